import type { OrganizationStatus } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { sessionOf } from '../signIn/guard.ts'
import { bars } from '../views/bars.ts'
import { counted, type Format, span } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { type KeyUsage, readUsage, refusedOf, sum, type Usage, type Window } from './read.ts'

export function usagePages(area: FastifyInstance, deps: AdminDeps): void {
  area.get('/usage', async (request, reply) => {
    const usage = await readUsage(deps, sessionOf(request))
    const body = usage === undefined ? unknownUsage : usageView(usage, formatOf(request))
    return sendPage(request, reply, { title: 'Usage', body })
  })
}

const unknownUsage = html`<h1>Usage</h1><section class="card empty"><p class="big">Not available right now</p>
<p class="faint">Redis, which counts the requests, does not answer. The API keeps working.</p></section>`

export function usageView({ keys, window, byHour }: Usage, format: Format): Html {
  return html`<h1>Usage</h1>
<p class="faint">Requests that your keys made. Figures are a few seconds old.</p>
${limitCard(window, format)}
${refusedCard(keys, format)}
${keys.length === 0 ? noRequests : html`${dayCard(byHour, window, format)}${table(keys, format)}`}`
}

const noRequests = html`<section class="card empty"><p class="big">No requests in the last day</p>
<p class="faint">None of your keys was used.</p></section>`

function limitCard({ status, limit, used, endsInMs }: Window, { whole }: Format): Html {
  const left = Math.max(0, limit - used)
  return html`<section class="card"><h2>Rate limit</h2>
<p><strong>${whole(used)} of ${whole(limit)}</strong> requests used in this minute, ${whole(left)} left. <span class="faint">${
    used === 0 ? 'The minute starts with the next request.' : `A new minute starts in ${span(endsInMs)}.`
  }</span></p>
<meter min="0" max="${limit}" high="${Math.ceil(limit * 0.8)}" value="${Math.min(used, limit)}" aria-label="Requests used">${used} of ${limit}</meter>
<p class="faint">${statusNames[status]}: ${counted(limit, 'request', whole)} a minute. All keys of the organization share them; more keys do not raise the limit.</p></section>`
}

const statusNames: Record<OrganizationStatus, string> = {
  Trial: 'Trial',
  ActiveDayPass: 'Day pass',
  Inactive: 'Inactive',
}

function refusedCard(keys: KeyUsage[], { whole }: Format): Html {
  const refused = keys.flatMap(usage =>
    refusedOf(usage.day).flatMap(({ status, requests }) =>
      requests > 0 ? [{ usage, status, requests }] : [],
    ),
  )
  if (refused.length === 0) return html`<p class="faint">No request was refused in the last day.</p>`
  return html`<section class="card"><h2>Refused in the last day</h2><ul class="plain">
${refused.map(({ usage, status, requests }) => html`<li>${nameOf(usage)}: <strong>${counted(requests, 'request', whole)}</strong> <span class="badge revoked">${status}</span> ${refusalReason(status)}</li>`)}
</ul></section>`
}

/** The limit is drawn if the busiest hour had at least this part of it: less than that would be bars of nothing. */
const nearLimit = 1 / 4

function dayCard(byHour: Usage['byHour'], { limit }: Window, { whole }: Format): Html {
  const most = Math.max(1, ...byHour.map(({ requests }) => requests))
  const allowed = limit * 60
  const isNear = most >= allowed * nearLimit
  const columns = byHour.map(({ requests, refused }, index) => {
    const ago = byHour.length - index
    return {
      title: `${ago} to ${ago - 1} h ago: ${counted(requests, 'request', whole)}, ${whole(refused)} refused`,
      parts: [
        { count: requests - refused, kind: 'answered' },
        { count: refused, kind: 'refused' },
      ],
    }
  })
  const label = `Requests by hour, at most ${whole(most)} in one`
  return html`<section class="card"><h2>Last 24 hours</h2>
${bars(columns, { label, most, limit: isNear ? allowed : undefined })}
<p class="faint ends"><span>24 h ago</span><span>18</span><span>12</span><span>6</span><span>now</span></p>
<p class="faint">Most in an hour: ${whole(most)}${isNear ? '. The dashed line is the limit:' : '. The limit allows'} ${whole(allowed)} an hour. <span class="key refused">Refused</span></p></section>`
}

function table(keys: KeyUsage[], { whole }: Format): Html {
  return html`<div class="card table"><table>
<caption class="hidden">Requests by key and status</caption>
<thead><tr><th scope="col">Key</th><th scope="col">Last hour</th><th scope="col">Last day</th><th scope="col">By status, last day</th></tr></thead>
<tbody>
${keys.map(
  usage => html`<tr>
<th scope="row" data-label="Key">${nameOf(usage)}<code class="faint">${usage.keyId}</code></th>
<td data-label="Last hour" class="number">${whole(sum(usage.hour))}</td>
<td data-label="Last day" class="number">${whole(sum(usage.day))}</td>
<td data-label="By status">${[...usage.day].toSorted(([one], [other]) => one - other).map(([status, requests]) => html`<span class="scope">${status}</span> ${whole(requests)} `)}</td>
</tr>`,
)}
</tbody></table></div>`
}

const nameOf = ({ key, keyId }: KeyUsage): Html =>
  key === undefined ? html`${keyId}` : html`<a href="/keys/${keyId}"><bdi>${key.name}</bdi></a>`

/** Why requests were not answered, by HTTP status (docs/api.md, Problem body). */
const reasons: Record<number, string> = {
  400: 'invalid request',
  401: 'revoked or expired key',
  403: 'missing scope',
  404: 'no such event or path',
  429: 'rate limit',
  503: 'a part was down',
}

export const refusalReason = (status: number): string => reasons[status] ?? 'error'

/** Errors among requests by status, the most frequent first. */
export const errorsOf = (counts: Map<number, number>): { status: number; requests: number }[] =>
  [...counts]
    .filter(([status]) => status >= 400)
    .map(([status, requests]) => ({ status, requests }))
    .toSorted((one, other) => other.requests - one.requests)
