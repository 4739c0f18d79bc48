import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** What ships, but for the client, whose names are those of its users, and for one file per endpoint or command. */
const files = execFileSync('git', ['ls-files', 'packages', 'services'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(file => file.endsWith('.ts') && !/\.test\.ts$|\/test\/|^packages\/(client|testkit)\//.test(file))

const declaredIn = (file: string): string[] =>
  [
    ...textOf(file).matchAll(
      /^export (?:async )?(?:abstract )?(?:function\*?|const|class|type|interface) (\w+)/gm,
    ),
  ].map(([, name = '']) => name)

/** The names that a package gives to others, with the file that declares each. */
function* publicNames(): Generator<[name: string, file: string]> {
  for (const index of files.filter(file => /^packages\/[\w-]+\/index\.ts$/.test(file)))
    for (const [, what = '', from = ''] of textOf(index).matchAll(
      /^export (?:type )?(\*|\{[^}]*\}) from '\.\/([^']+)'/gm,
    )) {
      const file = join(dirname(index), from)
      const listed = [...what.matchAll(/(?:type )?(\w+)(?:,| \}|\n)/g)].map(([, name = '']) => name)
      for (const name of what === '*' ? declaredIn(file) : listed) yield [name, file]
    }
}

test('a name that a package gives to others has one meaning in all of them', () => {
  const places = new Map<string, string[]>()
  for (const file of files)
    for (const name of declaredIn(file)) places.set(name, [...(places.get(name) ?? []), file])
  const names = [...publicNames()]
  expect(names.length).toBeGreaterThan(300)
  const twice = names.flatMap(([name, file]) => {
    const others = (places.get(name) ?? []).filter(place => place !== file)
    return (places.get(name) ?? []).includes(file) ? others.map(other => `${name}: ${file}, ${other}`) : []
  })
  expect(twice).toEqual([])
})
