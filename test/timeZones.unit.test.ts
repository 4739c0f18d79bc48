import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const untested = [':!*.test.ts', ':!**/test/**', ':!packages/testkit']
const files = execFileSync(
  'git',
  ['ls-files', 'packages/*.ts', 'services/*.ts', 'services/*.js', ...untested],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(file => file !== '')

/** On most pages, times are those of the reader's clock, which only the browser knows (docs/operations.md). */
const ofTheReader = ['services/admin/assets/page.js', 'services/admin/assets/operations.js']

/** What reads a clock in a zone by the ICU of the Node that runs it; formatters with `timeZone: 'UTC'` do not. */
const byIcu = [
  /Intl\.DateTimeFormat\((?![^)]*timeZone: 'UTC')[^)]*\)/g,
  /\.toLocale(Date|Time)String\(/g,
  /\.toLocaleString\([^)]*(timeZone|dateStyle|timeStyle)/g,
  /\.(getHours|getMinutes|getDate|getDay|getMonth|getFullYear|getTimezoneOffset)\(/g,
  /\bTemporal\./g,
]

test('local times come from offsetIn alone, because two versions of Node have other time zone data', () => {
  expect(files.length).toBeGreaterThan(300)
  const found = files.flatMap(file => {
    const text = readFileSync(join(root, file), 'utf8')
    return byIcu.flatMap(pattern => [...text.matchAll(pattern)].map(([code]) => `${file}: ${code}`))
  })
  const isOfTheReader = (use: string) =>
    ofTheReader.some(file => use.startsWith(`${file}: Intl.DateTimeFormat(`))
  expect(found.filter(use => !isOfTheReader(use))).toEqual([])
})
