import { readFileSync } from 'node:fs'
import { problemTypes } from '@tally/contract'
import { Marked, type Tokens } from 'marked'
import { escaped, type Guide, headingsOf, idOf, type Neighbour, once, plain, withTabs } from './layout.ts'

const folder = new URL('../../../docs/guides/', import.meta.url)
const root = '/docs/guide'

/** The files of docs/guides that the service shows, in reading order: those for people who poll. */
const files = [
  'README.md',
  'first-answer.md',
  'polling.md',
  'errors/README.md',
  ...Object.keys(problemTypes).map(type => `errors/${type}.md`),
  'numbers.md',
  'versions.md',
  'dashboard/README.md',
  'recipes/README.md',
]

/** What the list of guides says to those who have the repository, for whom it is. */
const forSenders = /^## For those who send records\n.*?(?=^## )/ms

/** Those that one reads in a row: all but the pages of single errors. */
const chapters = files.filter(file => !/^errors\/(?!README)/.test(file))

/** The files that a guide tells its reader to copy, each with the type that browsers show. */
const recipes = [
  { file: 'recipes/home-assistant/tally.yaml', type: 'text/plain' },
  { file: 'recipes/esphome/counter.yaml', type: 'text/plain' },
  { file: 'recipes/node-red/flow.json', type: 'application/json' },
]

/** The files of the recipes, at the addresses that the guides link to. */
export const readRecipes = () =>
  recipes.map(({ file, type }) => ({
    path: `${root}/${file}`,
    type,
    text: readFileSync(new URL(file, folder), 'utf8'),
  }))

/** Where a file of docs/guides is shown. */
const pathOf = (file: string): string => `${root}/${file}`.replace(/(\/README)?\.md$/, '')

/**
 * The address of each guide, and a function that reads and renders it when it is first called: rendering all of them
 * before the process is ready delays it by 26 ms.
 */
export const listGuides = (): { path: string; read: () => Guide }[] =>
  files.map(file => ({ path: pathOf(file), read: once(() => readGuide(file)) }))

function readGuide(file: string): Guide {
  const markdown = readFileSync(new URL(file, folder), 'utf8').replace(forSenders, '')
  const marked = markedFor(file)
  const tokens = marked.lexer(markdown)
  const first = (type: string) => tokens.find(token => token.type === type) as Tokens.Paragraph | undefined
  const at = chapters.includes(file) ? chapters.indexOf(file) : Number.NaN
  return {
    path: pathOf(file),
    title: first('heading')?.text ?? file,
    summary: plain(first('paragraph')?.text ?? ''),
    markdown: withServedLinks(markdown, file),
    html: scrollable(withTabs(tokens, part => marked.parser(part))),
    headings: headingsOf(tokens),
    previous: neighbour(chapters[at - 1]),
    next: neighbour(chapters[at + 1]),
  }
}

function neighbour(file: string | undefined): Neighbour | undefined {
  if (file === undefined) return undefined
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(new URL(file, folder), 'utf8')) ?? []
  return { path: pathOf(file), title }
}

/** What may be wider than a phone scrolls by itself, also with the keyboard. */
const scrollable = (html: string): string =>
  html
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')

/** Renders one file: titles get GitHub's anchors, links lead to pages of the service, HTML is text. */
function markedFor(file: string): Marked {
  return new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${served(href, file)}">${this.parser.parseInline(tokens)}</a>`
      },
      html: ({ text }) => escaped(text),
    },
  })
}

/** Where a link of a guide leads in the service. It may not lead to what only the repository has. */
function served(href: string, from: string): string {
  if (/^(https?:|#)/.test(href)) return href
  const { pathname, hash } = new URL(href, new URL(from, folder))
  if (pathname.endsWith('/docs/api.md')) return '/docs'
  if (pathname.endsWith('/packages/client/README.md')) return '/docs/client.js'
  const file = pathname.startsWith(folder.pathname) ? pathname.slice(folder.pathname.length) : ''
  if (recipes.some(recipe => recipe.file === file)) return `${root}/${file}`
  if (file === 'dashboard/index.html') return '/docs/dashboard/'
  if (!files.includes(file)) throw new Error(`${from}: the service does not have ${href}`)
  return pathOf(file) + hash
}

const withServedLinks = (markdown: string, file: string): string =>
  markdown.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, text: string, href: string) => {
    const target = served(href, file)
    // The page at /docs needs a browser, and who reads Markdown often has none.
    if (target === '/docs') return `[${text}](/api/v1/openapi.json)`
    // Files and folders are no guides.
    return `[${text}](${target.replace(/^[^#:.]+(?<!\/)(?=#|$)/, '$&.md')})`
  })

/** The index for language models (llmstxt.org): what the service is, and every guide as Markdown. */
export function llmsText(guides: Guide[]): string {
  const lines = guides.map(({ path, title, summary }) => `- [${title}](${path}.md): ${summary}`)
  return `# Tally API

> Read-only HTTP API of live sales figures of food festivals: KPIs, sales by hour and by day, portions sold per menu item, and orders. Send the token of an API key in the header X-Api-Key. Poll with If-None-Match; the rate limit is per organization.

## Reference

- [OpenAPI 3.1 document](/api/v1/openapi.json): every endpoint, parameter, field and problem

## Guides

${lines.join('\n')}
`
}
