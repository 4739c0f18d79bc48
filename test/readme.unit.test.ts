import { existsSync, readFileSync } from 'node:fs'
import { metricHelp } from '@tally/runtime'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

test('every file and folder that the README names exists', () => {
  const named = [
    ...readme.matchAll(/`((?:packages|services|infra|test)\/[^`\s]+)`/g),
    ...readme.matchAll(/\]\(([^)#:]+)\)/g),
  ].map(([, path]) => path as string)

  expect(named.length).toBeGreaterThan(25)
  expect(named.filter(path => !existsSync(new URL(path, root)))).toEqual([])
})

test('the table of metrics in the README says what the program says', () => {
  const rows = [...readme.matchAll(/^\| `(tally_\w+)` \| (.+) \|$/gm)].map(([, name, help]) => [name, help])

  expect(rows).toEqual(Object.entries(metricHelp))
})
