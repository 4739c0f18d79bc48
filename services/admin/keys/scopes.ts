import type { Scope } from '@tally/contract'

/** What each scope unlocks, in a line (public-api-v1.md section 5). */
export const scopeLines: Record<Scope, string> = {
  'events:read': 'The list of events, and one event with its open day',
  'analytics:read': 'Takings, orders by hour, best sellers, and the live item counts that devices poll',
  'orders:read': 'Single orders with their items and payment, never a customer’s name',
}
