import type { EventDay, EventId, KpisAnswer } from '@tally/contract'
import { readUnlisted, type StoredEvent, topItems } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { type Needs, readFromPostgres } from '@tally/views'
import { type DayRead, dayOf, documentOf } from '../live/day.ts'
import { eveningOf } from '../live/evening.ts'
import { partReturned } from '../live/returned.ts'
import { namesOf } from '../live/wanted.ts'
import { labelledDays, nameOf } from '../views/dayLabels.ts'
import {
  itemSums,
  type Period,
  type Settled,
  sumOfItems,
  sumOfKpis,
  sumOfPayments,
  takingsOf,
} from './settled.ts'

/** A day, or without one all days of an event. */
export type SettledOf = { eventId: EventId; dayId?: number | undefined }

/**
 * Reads it in one snapshot of Postgres, so that its parts add up, and after it what no listed day has, which is in no
 * sum; undefined if the event or the day is unknown.
 */
export async function readSettled(
  db: Postgres,
  topics: string[],
  { eventId, dayId }: SettledOf,
): Promise<Settled | undefined> {
  const daysOf = ({ days }: StoredEvent) => days.filter(day => dayId === undefined || day.dayId === dayId)
  const needs: Needs = event => {
    const ids = daysOf(event).map(({ dayId }) => dayId)
    return [
      ...namesOf('kpis', ids),
      ...namesOf('hours', dayId === undefined ? [] : ids),
      ...namesOf('items', ids),
      ...namesOf('payments', ids),
    ]
  }
  const read = await readFromPostgres(db, topics, eventId, [needs])
  const days = read === undefined ? [] : daysOf(read.head.event)
  if (read === undefined || days.length === 0) return undefined
  const { event } = read.head
  // No page links to all days of an event that has one.
  const hasAll = dayId === undefined || event.days.length === 1
  const unlisted = hasAll ? await readUnlisted(db, event) : undefined
  const [day] = dayId === undefined ? [] : days
  return settle(dayOf(read), day, unlisted?.orders ? unlisted : undefined)
}

function settle(read: DayRead, day: EventDay | undefined, unlisted: Settled['unlisted']): Settled {
  const { event, asOfMs } = read
  const days = day === undefined ? event.days : [day]
  const kpisOf = ({ dayId }: Pick<EventDay, 'dayId'>) => documentOf(read, 'kpis', { dayId })
  const items = sumOfItems(days.map(({ dayId }) => documentOf(read, 'items', { dayId })))
  const payments = sumOfPayments(days.map(({ dayId }) => documentOf(read, 'payments', { dayId })))
  const listed = partReturned(topItems(items, event, items.length))
  return {
    event,
    day,
    asOfMs,
    kpis: sumOfKpis(days.map(kpisOf)),
    all: takingsOf(payments),
    payments,
    periods: day === undefined ? dayPeriods(event, kpisOf) : hourPeriods(read, day),
    ...listed,
    items: itemSums([...listed.sold, ...listed.returned]),
    unlisted,
  }
}

function hourPeriods(read: DayRead, day: EventDay): Period[] {
  const opening = { day, timeZone: read.event.timeZone, asOfMs: read.asOfMs }
  const hours = eveningOf(documentOf(read, 'hours', day), opening)
  return hours.map(({ hour, orderCount, revenue }) => ({
    name: `${String(hour).padStart(2, '0')}:00`,
    orders: orderCount,
    takings: revenue,
  }))
}

const dayPeriods = (event: StoredEvent, kpisOf: (day: Pick<EventDay, 'dayId'>) => KpisAnswer): Period[] =>
  labelledDays(event).map(({ dayId, ...label }) => {
    const { totalOrders, totalSales } = kpisOf({ dayId })
    return { name: nameOf(label), label, orders: totalOrders, takings: totalSales }
  })
