import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { Token, Tokens } from 'marked'

export type Guide = {
  /** Its address. */
  path: string
  title: string
  /** The first paragraph, as text. */
  summary: string
  /** The file with links that lead to the Markdown of the service's other pages. */
  markdown: string
  /** The text of its page. */
  html: string
  /** For the contents at its side. */
  headings: Heading[]
  /** Its neighbours in the list of guides; the page of one error has none. */
  previous: Neighbour | undefined
  next: Neighbour | undefined
}
export type Neighbour = { path: string; title: string }
type Heading = { id: string; text: string }

/** Markdown in text: without backticks, and with the words of its links only. */
export const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('\n', ' ')

/** The anchor of a title, as GitHub makes it. */
export const idOf = (title: string): string =>
  plain(title)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

const isTitle = (token: Token | undefined): token is Tokens.Heading =>
  token?.type === 'heading' && token.depth === 2

export const headingsOf = (tokens: Token[]): Heading[] =>
  tokens.filter(isTitle).map(({ text }) => ({ id: idOf(text), text: plain(text) }))

/** The body of a guide's page, with its contents at the side and its neighbours at the foot. */
export function guideBody({ html, headings, previous, next }: Guide): string {
  const contents = headings.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`)
  const turns = [turn('prev', previous), turn('next', next)].join('')
  const nav = `<nav class="contents" aria-label="On this page"><ul>${contents.join('')}</ul></nav>\n`
  return `${contents.length > 1 ? nav : ''}<div>
${html}${turns && `<nav class="turns" aria-label="Previous and next">${turns}</nav>\n`}</div>
`
}

const turn = (rel: 'prev' | 'next', to: Neighbour | undefined): string =>
  to === undefined
    ? ''
    : `<a rel="${rel}" href="${to.path}"><small>${rel === 'prev' ? 'Previous' : 'Next'}</small> ${escaped(to.title)}</a>`

/** How a title begins under which the guide says in one language what it says under its neighbours in another one. */
const language = /^(curl|Node|Python|Go|Arduino)( |$)/

/** The HTML of a guide: its sections in several languages, one below the other in Markdown, are tabs. */
export function withTabs(tokens: Token[], render: (tokens: Token[]) => string): string {
  const sections: Token[][] = [[]]
  for (const token of tokens) {
    if (isTitle(token)) sections.push([])
    sections.at(-1)?.push(token)
  }
  const titles = sections.map(([first]) =>
    isTitle(first) && language.test(first.text) ? first.text : undefined,
  )
  const html = sections.map((section, index) => {
    const title = titles[index]
    if (title === undefined) return render(section)
    const isFirst = titles[index - 1] === undefined
    // The anchor is inside, not on the summary: a link to what is in a closed tab opens it.
    const tab = `<details name="language"${isFirst ? ' open' : ''}><summary><h2>${escaped(title)}</h2></summary>
<div id="${idOf(title)}">
${render(section.slice(1))}</div></details>
`
    return (isFirst ? '<div class="tabs">\n' : '') + tab + (titles[index + 1] === undefined ? '</div>\n' : '')
  })
  return html.join('')
}

const asset = (name: string): string => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8')
const style = asset('pages.css')
const script = asset('pages.js')
const icon = asset('icon.svg')
const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

/** Nothing is loaded, and nothing runs but the one script: it and the one style are named by their hashes. */
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** HTML of a text, not for an attribute. */
export const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The bytes of a page of the documentation, all in one look; `body` is HTML. */
export const pageOf = ({ title, body, layout = '' }: { title: string; body: string; layout?: string }) =>
  Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Tally API</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${style}</style>
<header><a href="/">${icon} Tally API</a><nav aria-label="Main"><a href="/docs/guide">Guides</a> <a href="/docs">Reference</a> <a href="/docs/guide/errors">Errors</a></nav></header>
<main${layout && ` class="${layout}"`}>
${body}</main>
<script>${script}</script>
</html>
`)

/** Answers with such a page. */
export const sendPage = (reply: FastifyReply, page: Buffer): FastifyReply =>
  reply.type('text/html; charset=utf-8').header('Content-Security-Policy', policy).send(page)

/** Returns a function that makes a result when it is first called, and gives it again. */
export function once<Result>(make: () => Result): () => Result {
  let made: { result: Result } | undefined
  return () => {
    made ??= { result: make() }
    return made.result
  }
}
