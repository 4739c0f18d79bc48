import type { ApiKey } from '@tally/access'
import { moment } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'

const hourMs = 3_600_000

/** How long the old token stays valid after a rotation. */
export const graces = [
  { value: 'now', name: 'At once', ms: 0 },
  { value: 'hour', name: 'In 1 hour', ms: hourMs },
  { value: 'day', name: 'In 1 day', ms: 24 * hourMs },
  { value: 'week', name: 'In 7 days', ms: 7 * 24 * hourMs },
]

export function revokeView(key: ApiKey, csrf: string): Html {
  return html`<section class="card narrow">
<h1>Revoke “<bdi>${key.name}</bdi>”?</h1>
<p>Every device that uses this key is refused within a second. This cannot be undone.</p>
<p class="faint">Last used: ${moment(key.lastUsedAt)}</p>
<form method="post" action="/keys/${key.keyId}/revoke">${csrfField(csrf)}
<div class="actions"><button class="danger">Revoke key</button><a class="button quiet" href="/keys/${key.keyId}">Cancel</a></div>
</form></section>`
}

export function rotateView(key: ApiKey, csrf: string): Html {
  return html`<section class="card narrow">
<h1>Rotate “<bdi>${key.name}</bdi>”</h1>
<p>You get a new token with the same name, scopes, event and expiry. Choose when the old token stops working, so that you have time to update every device.</p>
<form method="post" action="/keys/${key.keyId}/rotate">${csrfField(csrf)}
<fieldset><legend>The old token stops working</legend>
${graces.map(({ value, name }) => html`<label class="tick"><input type="radio" name="grace" value="${value}"${attribute('checked', value === 'day')}><span>${name}</span></label>`)}
</fieldset>
<div class="actions"><button class="primary">Create new token</button><a class="button quiet" href="/keys/${key.keyId}">Cancel</a></div>
</form></section>`
}

/** Until when the old key works. */
export function rotatedView(old: ApiKey): Html {
  return old.revokedAt === null
    ? html`<p>The old token works until ${moment(old.expiresAt)}.</p>`
    : html`<p>The old token is revoked.</p>`
}
