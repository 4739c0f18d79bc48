import type { EventDay, KpisAnswer, TopItem } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'

/** The takings of one payment method or of all, in euros: `total` less `refunded` are the `takings`. */
export type Takings = {
  orders: number
  refundedOrders: number
  total: number
  refunded: number
  takings: number
}

/** What an hour of a day took, or a day of a festival. */
export type Period = {
  /** `21:00`, or a name of `dayNames`, which begins with the date. */
  name: string
  date?: string
  orders: number
  takings: number
}

/**
 * What an organizer settles a day by, or all days of a festival. Kpis, hours and items are those of the API
 * (docs/records.md, Counting), of several days their sums.
 */
export type Settled = {
  event: StoredEvent
  /** Undefined for all days. */
  day: EventDay | undefined
  /** Up to when everything is counted, in epoch milliseconds. */
  asOfMs: number | null
  kpis: Pick<KpisAnswer, 'totalOrders' | 'totalItemsSold' | 'totalSales'>
  all: Takings
  payments: (Takings & { paymentMethod: string })[]
  /** The hours of a day as its evening ran (eveningOf), or the days by date. */
  periods: Period[]
  /** Most sold first. */
  sold: TopItem[]
  /** Most money given back first (partReturned). */
  returned: TopItem[]
  items: SettledItem
}

/** Of items: `total` less `refunded` are their takings. */
export type SettledItem = {
  quantity: number
  refundedQuantity: number
  total: number
  refunded: number
  takings: number
}
