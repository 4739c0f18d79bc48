import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'

const asset = (name: string): string => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8')
const style = asset('pages.css')
const script = asset('pages.js')
const icon = asset('icon.svg')
const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

/** Nothing is loaded, and nothing runs but the one script: it and the one style are named by their hashes. */
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** HTML of a text, not for an attribute. */
export const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Answers with a page of the documentation, all in one look; `body` is HTML. */
export function sendPage(
  reply: FastifyReply,
  { title, body, layout = '' }: { title: string; body: string; layout?: string },
): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', policy)
    .send(`<!doctype html>
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
}
