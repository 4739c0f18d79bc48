import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const asset = (name: string): string => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8')
const style = asset('guide.css')
const icon = asset('icon.svg')

/** Nothing is loaded, and nothing runs: the one style is named by its hash. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** A page of the documentation, in the look of `/docs`; `body` is HTML. */
export function page({ title, body }: { title: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Tally API</title>
<style>${style}</style>
<header><a href="/docs/guide">${icon} Tally API</a><nav><a href="/docs/guide">Guides</a> <a href="/docs/guide/errors">Errors</a> <a href="/docs">Reference</a></nav></header>
<main>
${body}</main>
</html>
`
}
