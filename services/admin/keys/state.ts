import type { ApiKey } from '@tally/access'
import type { Scope } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import { dayMs } from '../views/fields.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { eventName } from './events.ts'

type KeyState = 'good' | 'ending' | 'expired' | 'revoked'

const soonMs = 7 * dayMs

/** A key's state at a time; `ending` still works, but expires within a week and within half of its life. */
function stateOf({ revokedAt, createdAt, expiresAt }: ApiKey, nowMs: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'good'
  if (expiresAt <= nowMs) return 'expired'
  return expiresAt - nowMs < Math.min(soonMs, (expiresAt - createdAt) / 2) ? 'ending' : 'good'
}

const names: Record<KeyState, string> = {
  good: 'Active',
  ending: 'Ends soon',
  expired: 'Expired',
  revoked: 'Revoked',
}

export function stateBadge(key: ApiKey): Html {
  const state = stateOf(key, Date.now())
  return html`<span class="badge ${state}">${names[state]}</span>`
}

/** Whether a key still works, so that it can be revoked or rotated. */
export const isUsable = (key: ApiKey): boolean => ['good', 'ending'].includes(stateOf(key, Date.now()))

/** When a key ends or ended. */
export const endOf = ({ revokedAt, expiresAt }: ApiKey): Html => moment(revokedAt ?? expiresAt)

/** Scopes in words; the API's names stand next to them. */
export const scopeNames: Record<Scope, string> = {
  'events:read': 'Events',
  'analytics:read': 'Figures',
  'orders:read': 'Orders',
}

/** What each scope allows, in a line (docs/api.md, Scopes). */
export const scopeLines: Record<Scope, string> = {
  'events:read': 'The list of events, and one event with its open day',
  'analytics:read': 'Takings, orders by hour, best sellers, and the live item counts that devices poll',
  'orders:read': 'Single orders with their items and payment, never a customer’s name',
}

/** What a key may read, of which event, and until when. */
export const keyFacts = ({ scopes, eventId, expiresAt }: ApiKey, events: ListedEvent[]): Html =>
  html`<dt>Scopes</dt><dd>${scopes.map(scope => html`<p>${scopeNames[scope]} <span class="scope">${scope}</span> <span class="faint">${scopeLines[scope]}</span></p>`)}</dd>
<dt>Event</dt><dd>${eventId === null ? 'All events' : html`<bdi>${eventName(events, eventId)}</bdi>`}</dd>
<dt>Ends</dt><dd>${moment(expiresAt)}</dd>`
