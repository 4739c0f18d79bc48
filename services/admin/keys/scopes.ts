import type { Scope } from '@tally/contract'

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
