import type { ApiKey } from '@tally/access'
import type { ListedEvent } from '@tally/figures'
import { errorsOf, refusalReason } from '../usage/page.ts'
import { sum } from '../usage/read.ts'
import { counted, type Format, moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { isUsable, keyFacts, stateBadge } from './state.ts'
import { snippetsView } from './tokenView.ts'

type Around = {
  events: ListedEvent[]
  /** The requests of the last day by status; undefined while they cannot be read. */
  day: Map<number, number> | undefined
  apiUrl: string
  format: Format
}

export function keyView(key: ApiKey, { events, day, apiUrl, format }: Around): Html {
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<div class="heading"><h1><bdi>${key.name}</bdi> ${stateBadge(key)}</h1>
${isUsable(key) ? html`<div class="actions"><a class="button" href="/keys/${key.keyId}/rotate">Rotate</a><a class="button danger" href="/keys/${key.keyId}/revoke">Revoke</a></div>` : ''}
</div>
<section class="card">
<dl class="facts">
<dt>Key id</dt><dd><code>${key.keyId}</code></dd>
<dt>Created</dt><dd>${moment(key.createdAt)}</dd>
${keyFacts(key, events)}
${key.revokedAt === null ? '' : html`<dt>Revoked</dt><dd>${moment(key.revokedAt)}</dd>`}
<dt>Last used</dt><dd>${moment(key.lastUsedAt)}</dd>
<dt>Last day</dt><dd>${day === undefined ? 'Not available right now' : requests(day, format)}</dd>
</dl>
<p class="faint">The token was shown when the key was created and cannot be shown again. If you lose it, rotate the key.</p>
</section>
${isUsable(key) ? html`<section class="card"><h2>Use it</h2>${snippetsView({ apiUrl, key, token: 'tally_…', events })}</section>` : ''}`
}

/** How many requests there were, and each error among them. */
const requests = (day: Map<number, number>, { whole }: Format): Html =>
  html`<p>${counted(sum(day), 'request', whole)}</p>${errorsOf(day).map(
    ({ status, requests }) =>
      html`<p><span class="badge revoked">${status}</span> ${refusalReason(status)}, ${counted(requests, 'time', whole)}</p>`,
  )}`
