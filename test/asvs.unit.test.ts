import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const page = new URL('docs/security-asvs.md', root)
const text = readFileSync(page, 'utf8')

/** How many requirements each section of ASVS 4.0.3 has; those of level 3 only and deleted ones are named after it. */
const sections: Record<string, [count: number, ...without: number[]]> = {
  '2.1': [12],
  '2.2': [3],
  '2.3': [3],
  '2.4': [5],
  '2.5': [7],
  '2.6': [3],
  '2.7': [6],
  '2.8': [7],
  '2.9': [3],
  '2.10': [4],
  '3.1': [1],
  '3.2': [4],
  '3.3': [4],
  '3.4': [5],
  '3.5': [3],
  '3.7': [1],
  '4.1': [5, 4],
  '4.2': [2],
  '4.3': [3],
  '5.1': [5],
  '5.2': [8],
  '5.3': [10],
  '5.4': [3],
  '5.5': [4],
  '7.1': [4],
  '7.2': [2],
  '7.3': [4, 2],
  '7.4': [3],
  '8.1': [4],
  '8.2': [3],
  '8.3': [8],
  '11.1': [8],
  '13.1': [5, 2],
  '13.2': [6, 4],
  '13.3': [2],
  '13.4': [2],
  '14.1': [4],
  '14.2': [6],
  '14.3': [3, 1],
  '14.4': [7],
  '14.5': [4],
}
/** Each requirement of a line `- 2.7.1 to 2.7.6 none: remark [test] [test]`; remark and tests may be missing. */
const rows = [
  ...text.matchAll(/^- ([\d.]+)\.(\d+)(?: to \1\.(\d+))? (\w+)(?:: (.*?))?((?: \[\w+\])*)$/gm),
].flatMap(([, section = '', first = '', last = first, state = '', remark = '', tests = '']) =>
  Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => ({
    requirement: `${section}.${Number(first) + index}`,
    state,
    tests,
    remark,
  })),
)
const files = new Map(
  [...text.matchAll(/^\[(\w+)\]: (\S+)$/gm)].map(([, name = '', path = '']) => [name, path]),
)

test('every requirement of levels 1 and 2 has one line', () => {
  const expected = Object.entries(sections).flatMap(([section, [count, ...without]]) =>
    Array.from({ length: count }, (_, index) => index + 1)
      .filter(number => !without.includes(number))
      .map(number => `${section}.${number}`),
  )
  expect(rows.map(({ requirement }) => requirement)).toEqual(expected)
})

test('what is met or partly met names its tests, or says why there is none; the rest is explained', () => {
  const bare = rows.filter(({ state, tests, remark }) => {
    if (state === 'met') return tests === '' && !remark.startsWith('no test: ')
    if (state === 'part') return remark === '' || (tests === '' && !remark.startsWith('no test: '))
    return !['gap', 'operator', 'none'].includes(state)
  })
  expect(bare).toEqual([])
  const [, open = ''] = /^## Open gaps\n([\s\S]*?)^## /m.exec(text) ?? []
  const gaps = rows.filter(({ state }) => state === 'gap').map(({ requirement }) => requirement)
  expect(
    gaps.filter(gap => !new RegExp(`(^|[ |])${gap.replaceAll('.', '\\.')}([, ]|$)`, 'm').test(open)),
  ).toEqual([])
})

test('every test that is named exists, and none is defined in vain', () => {
  const named = new Set(
    rows.flatMap(({ tests, remark }) =>
      [...`${tests} ${remark}`.matchAll(/\[(\w+)\](?!\()/g)].map(([, name = '']) => name),
    ),
  )
  expect([...named].toSorted()).toEqual([...files.keys()].toSorted())
  const missing = [...files.values()].filter(
    path => !/\.test\.ts$/.test(path) || !existsSync(new URL(path, page)),
  )
  expect(missing).toEqual([])
})

test('what is shipped runs no text as code and no program, and puts no text into a page unescaped', () => {
  const sources = globSync(['packages/**/*.{ts,js}', 'services/**/*.{ts,js}'], {
    cwd: root,
    exclude: ['**/node_modules/**', 'packages/testkit/**', '**/test/**', '**/*.test.ts'],
  })
  expect(sources.length).toBeGreaterThan(300)
  const wrong = sources.filter(path =>
    /\beval\(|new Function\(|node:(?:child_process|vm)\b|(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/.test(
      readFileSync(new URL(path, root), 'utf8'),
    ),
  )
  expect(wrong).toEqual([])
})
