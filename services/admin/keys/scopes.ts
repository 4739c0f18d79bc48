import type { Scope } from '@tally/contract'

/** What each scope allows, in a line (docs/api.md, Scopes). */
export const scopeLines: Record<Scope, string> = {
  'events:read': 'The list of events, and one event with its open day',
  'analytics:read': 'Takings, orders by hour, best sellers, and the live item counts that devices poll',
  'orders:read': 'Single orders with their items and payment, never a customer’s name',
}
