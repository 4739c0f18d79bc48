import type { ApiKey } from '@tally/access'
import type { ListedEvent } from '@tally/read-models'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { eventName } from './events.ts'
import { scopeLines } from './scopes.ts'
import { isUsable, stateBadge } from './state.ts'

export function keyView(key: ApiKey, events: ListedEvent[]): Html {
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<div class="heading"><h1>${key.name} ${stateBadge(key)}</h1>
${isUsable(key) ? html`<div class="actions"><a class="button" href="/keys/${key.keyId}/rotate">Rotate</a><a class="button danger" href="/keys/${key.keyId}/revoke">Revoke</a></div>` : ''}
</div>
<section class="card">
<dl class="facts">
<dt>Key id</dt><dd><code>${key.keyId}</code></dd>
<dt>Scopes</dt><dd>${key.scopes.map(scope => html`<p><span class="scope">${scope}</span> <span class="faint">${scopeLines[scope]}</span></p>`)}</dd>
<dt>Event</dt><dd>${key.eventId === null ? 'All events of the organization' : eventName(events, key.eventId)}</dd>
<dt>Created</dt><dd>${moment(key.createdAt)}</dd>
<dt>Expires</dt><dd>${moment(key.expiresAt)}</dd>
${key.revokedAt === null ? '' : html`<dt>Revoked</dt><dd>${moment(key.revokedAt)}</dd>`}
<dt>Last used</dt><dd>${moment(key.lastUsedAt)}</dd>
</dl>
<p class="faint">The token was shown when the key was created and cannot be shown again. If you lose it, rotate the key.</p>
</section>`
}
