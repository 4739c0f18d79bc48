import type { FastifyReply, FastifyRequest } from 'fastify'
import { splitTarget } from '../http/encoding.ts'
import { pageOf, sendPage } from './layout.ts'

/**
 * Greets a browser that opens the API's address, and says how old the figures are: `ages` returns those of the shards'
 * watermarks in milliseconds. For all others `/` is not found, as docs/api.md says: returns false, and only says in
 * `Vary` that it may be otherwise.
 */
export function welcome(
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  ages: () => number[],
): boolean {
  if (splitTarget(raw.url ?? '').path !== '/') return false
  // On Node's answer, where CORS may have put `Vary: Origin`.
  reply.raw.appendHeader('Vary', 'Accept')
  if (!prefersHtml(headers.accept)) return false
  sendPage(reply, pageOf({ title: 'Welcome', body: bodyWith(statusOf(ages())) }))
  return true
}

/** Whether `Accept` names HTML, and JSON not as much; a program's mere star is neither. */
function prefersHtml(accept = ''): boolean {
  const ranges = accept.split(',').map(range => range.trim().toLowerCase())
  const quality = (type: RegExp) => {
    const found = ranges.filter(range => type.test(range))
    return Math.max(0, ...found.map(range => Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)))
  }
  return quality(/^text\/html\s*(;|$)/) > quality(/^application\/(problem\+)?json\s*(;|$)/)
}

function statusOf(ages: number[]): string {
  if (ages.length === 0) return 'The age of the figures is not known.'
  const seconds = Math.max(0, ...ages) / 1_000
  return seconds < 10
    ? `Everything sold up to ${seconds.toFixed(1)} s ago is counted.`
    : `The figures are behind: some are those of ${seconds.toFixed(0)} s ago.`
}

const bodyWith = (status: string): string => `<h1>Live sales of festivals</h1>
<p>This is the address of Tally's API: takings, portions and orders of food festivals, as they are sold, for displays,
counters and dashboards. Programs send an API key, which whoever manages your organization creates in the administration
area.</p>
<p>${status}</p>
<ul>
<li><a href="/docs/guide/first-answer">First answer</a>: from a key to a number, in curl, Node, Python, Go and on an ESP32</li>
<li><a href="/docs/guide">Guides</a>: polling well, errors, what the numbers mean, recipes</li>
<li><a href="/docs">Reference</a>: every endpoint with its parameters, fields and an example</li>
<li><a href="/docs/guide/dashboard">Dashboard</a>: one page with takings, hours and best sellers, to copy and change</li>
</ul>
`
