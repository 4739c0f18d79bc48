import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { metricHelp } from '@tally/platform'
import { describe, expect, test } from 'vitest'
import { compareTables, filesWithTables } from '#infra/documents/tables.ts'

const root = new URL('../', import.meta.url)
const documents = git('ls-files', '-z', '*.md')
  .stdout.split('\0')
  .filter(path => path !== '')
const textOf = (path: URL | string) => readFileSync(new URL(path, root), 'utf8')

function git(...args: string[]) {
  return spawnSync('git', args, { cwd: fileURLToPath(root), encoding: 'utf8' })
}

/** The anchors of a document's titles, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const titles = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)]
  return titles.map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.for(documents)('%s', document => {
  const text = textOf(document)

  test('names only files and folders that exist', () => {
    const named = [...text.matchAll(/`((?:packages|services|infra|test|docs)\/[^`\s<…]+)`/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter(path => !/NNNN|\*/.test(path) && !existsSync(new URL(path, root)))).toEqual([])
  })

  test('links only to files and titles that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s:]+)\)|^\[\w+\]: ([^\s:]+)$/gm)].map(
      ([, link = '', defined = link]) => defined,
    )
    const broken = links.filter(link => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? new URL(document, root) : new URL(path, new URL(document, root))
      if (!existsSync(target)) return true
      return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})

test('no file holds the mark of a merge conflict', () => {
  const [marks, self] = ['^(<<<<<<<|>>>>>>>) ', ':!test/documents.unit.test.ts']
  const { status, stdout } = git('grep', '-lE', marks, '--', '.', self)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
})

test('no document, comment or text has a phrase that CONTRIBUTING.md (Language) leaves out', () => {
  const phrases = {
    again: /\banew\b/i,
    'next to': /\bbeside\b/i,
    expensive: /\bdear\b/i,
    'who does not': /(?<![/'])\bnobody\b(?![-@])/i,
    'learns of': /\bhears? of\b/i,
    'who says what': /\b(is|are|was|were) told\b(?! apart)/i,
    'what it is': /\bwhat comes in\b/i,
    'is not a': /(?<!\bthere )\bis no\b(?! longer)/i,
  }
  const files = git('ls-files', ':!package-lock.json', ':!*.png', ':!test/documents.unit.test.ts').stdout
  const lines = files
    .trimEnd()
    .split('\n')
    .flatMap(path =>
      textOf(path)
        .split('\n')
        .map((line, index) => ({ line, at: `${path}:${index + 1}` })),
    )
  const said = Object.entries(phrases).flatMap(([instead, phrase]) =>
    lines.filter(({ line }) => phrase.test(line)).map(({ line, at }) => `${at}: "${instead}", not: ${line}`),
  )
  expect(said).toEqual([])
})

test('the README is at most 120 lines', () => {
  expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

test.each(filesWithTables)(
  '%s has the tables that the code declares: `npm run generate` writes them',
  path => {
    const { text, asDeclared } = compareTables(path)
    expect(text).toBe(asDeclared)
  },
)

test('the table of metrics in docs/reference.md equals the help texts of the program', () => {
  const rows = [...textOf('docs/reference.md').matchAll(/^\| `(tally_\w+)` \| (.+) \|$/gm)]

  expect(rows.map(([, name, help]) => [name, help])).toEqual(Object.entries(metricHelp))
})
