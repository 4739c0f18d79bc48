import type { ApiKey } from '@tally/access'
import type { ListedEvent } from '@tally/figures'
import { errorsOf, refusalReason } from '../usage/page.ts'
import { sum } from '../usage/read.ts'
import { counted, type Format, moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { eventName } from './events.ts'
import { snippetsOf } from './snippets.ts'
import { isUsable, scopeLines, scopeNames, stateBadge } from './state.ts'
import { snippetsView } from './tokenView.ts'

type Around = {
  events: ListedEvent[]
  /** The requests of the last day by status; undefined while they cannot be read. */
  day: Map<number, number> | undefined
  apiUrl: string
  format: Format
}

export function keyView(key: ApiKey, { events, day, apiUrl, format }: Around): Html {
  const anyEvent = events[0]?.eventId
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<div class="heading"><h1><bdi>${key.name}</bdi> ${stateBadge(key)}</h1>
${isUsable(key) ? html`<div class="actions"><a class="button" href="/keys/${key.keyId}/rotate">Rotate</a><a class="button danger" href="/keys/${key.keyId}/revoke">Revoke</a></div>` : ''}
</div>
<section class="card">
<dl class="facts">
<dt>Key id</dt><dd><code>${key.keyId}</code></dd>
<dt>Scopes</dt><dd>${key.scopes.map(scope => html`<p>${scopeNames[scope]} <span class="scope">${scope}</span> <span class="faint">${scopeLines[scope]}</span></p>`)}</dd>
<dt>Event</dt><dd>${key.eventId === null ? 'All events' : html`<bdi>${eventName(events, key.eventId)}</bdi>`}</dd>
<dt>Created</dt><dd>${moment(key.createdAt)}</dd>
<dt>Ends</dt><dd>${moment(key.expiresAt)}</dd>
${key.revokedAt === null ? '' : html`<dt>Revoked</dt><dd>${moment(key.revokedAt)}</dd>`}
<dt>Last used</dt><dd>${moment(key.lastUsedAt)}</dd>
<dt>Last day</dt><dd>${day === undefined ? 'Not available right now' : requests(day, format)}</dd>
</dl>
<p class="faint">The token was shown when the key was created and cannot be shown again. If you lose it, rotate the key.</p>
</section>
${isUsable(key) ? html`<section class="card"><h2>Use it</h2>${snippetsView(snippetsOf({ apiUrl, key, token: 'tally_…', anyEvent }), apiUrl)}</section>` : ''}`
}

/** How many requests there were, and each error among them. */
const requests = (day: Map<number, number>, { whole }: Format): Html =>
  html`<p>${counted(sum(day), 'request', whole)}</p>${errorsOf(day).map(
    ({ status, requests }) =>
      html`<p><span class="badge revoked">${status}</span> ${refusalReason(status)}, ${counted(requests, 'time', whole)}</p>`,
  )}`
