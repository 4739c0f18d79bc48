import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** CONTRIBUTING.md, Style. Biome's formatter leaves comments as they are. */
const mostCharacters = 120

const root = join(import.meta.dirname, '..')
const generated = ':!packages/client/openapi.ts'
const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs', generated], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(file => file !== '')

test('no line of a comment is longer than 120 characters', () => {
  expect(files.length).toBeGreaterThan(500)
  const long = files.flatMap(file =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(\*|\/\/|\/\*)/.test(line) && line.length > mostCharacters ? [`${file}:${index + 1}`] : [],
      ),
  )
  expect(long).toEqual([])
})
