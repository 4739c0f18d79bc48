import { type EventDay, type HourBucket, type KpisAnswer, type TopItem, toEuros } from '@tally/contract'
import { topItems } from '@tally/core'
import { inSnapshot, readPayments, type StoredEvent } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { type DayRef, documentOf } from '../live/day.ts'
import { eveningOf } from '../live/evening.ts'
import { readDayIn } from '../live/fromPostgres.ts'
import { partReturned } from '../live/returned.ts'

/** The takings of one payment method or of all, in euros: `total` less `refunded` are the `takings`. */
export type Takings = {
  orders: number
  refundedOrders: number
  total: number
  refunded: number
  takings: number
}

/** What an organizer settles a day by. Kpis, hours and items are those of the API (docs/records.md, Counting). */
export type SettledDay = {
  event: StoredEvent
  day: EventDay
  /** Up to when everything is counted, in epoch milliseconds. */
  asOfMs: number | null
  kpis: KpisAnswer
  all: Takings
  payments: (Takings & { paymentMethod: string })[]
  /** As the evening ran (eveningOf). */
  hours: HourBucket[]
  /** Most sold first. */
  sold: TopItem[]
  /** Most money given back first (partReturned). */
  returned: TopItem[]
}

/** Reads a day in one snapshot of Postgres, so that its parts add up; undefined if the event or the day is unknown. */
export function readSettledDay(db: Postgres, topics: string[], ref: DayRef): Promise<SettledDay | undefined> {
  return inSnapshot(db, async snapshot => {
    const read = await readDayIn(snapshot, topics, ref)
    const day = read?.event.days.find(({ dayId }) => dayId === ref.dayId)
    if (read === undefined || day === undefined) return undefined
    const payments = await readPayments(snapshot, ref)
    const { event, asOfMs } = read
    const items = documentOf(read, 'items', ref)
    return {
      event,
      day,
      asOfMs,
      kpis: documentOf(read, 'kpis', ref),
      all: takingsOf(payments.reduce(add, nothing)),
      payments: payments.map(({ paymentMethod, ...cents }) => ({ paymentMethod, ...takingsOf(cents) })),
      hours: eveningOf(documentOf(read, 'hours', ref), { day, timeZone: event.timeZone, asOfMs }),
      ...partReturned(topItems(items, event, items.length)),
    }
  })
}

type InCents = { orders: number; refundedOrders: number; totalCents: number; salesCents: number }
const nothing: InCents = { orders: 0, refundedOrders: 0, totalCents: 0, salesCents: 0 }

const add = (one: InCents, other: InCents): InCents => ({
  orders: one.orders + other.orders,
  refundedOrders: one.refundedOrders + other.refundedOrders,
  totalCents: one.totalCents + other.totalCents,
  salesCents: one.salesCents + other.salesCents,
})

const takingsOf = ({ orders, refundedOrders, totalCents, salesCents }: InCents): Takings => ({
  orders,
  refundedOrders,
  total: toEuros(totalCents),
  refunded: toEuros(totalCents - salesCents),
  takings: toEuros(salesCents),
})
