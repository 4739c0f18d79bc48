import {
  type EventDay,
  type EventId,
  type HourBucket,
  type ItemCount,
  type KpisAnswer,
  type OrderStatus,
  offsetIn,
  type TopItem,
} from '@tally/contract'
import { allAreas, type ItemsDocument, itemCounts, openDay, topItems } from '@tally/core'
import {
  type DocumentName,
  documentName,
  emptyDocument,
  type ReadVersion,
  type StoredEvent,
  type View,
  views,
} from '@tally/read-models'
import { eveningOf } from './evening.ts'
import { partReturned } from './returned.ts'

/** The day that a screen shows. */
export type DayRef = { eventId: EventId; dayId: number }

/**
 * A day as Redis or Postgres has it at one revision. Its documents stay JSON: while they were kept as objects, a third
 * of the process's time was garbage collection (200 days).
 */
export type DayRead = ReadVersion & { event: StoredEvent } & DayTexts
type DayTexts = Record<View, string>

/**
 * What a screen shows of a day, with the names of both, so that no figure stands under another name than its own.
 * `statuses` is null while Postgres does not answer.
 */
export type DayShown = {
  revision: number
  eventName: string
  dayId: number
  /** Empty if the event no longer lists the day. */
  date: string
  /** When the day was closed, in milliseconds of the event's own clock; null while it is open. */
  closedAt: number | null
  /** Another day that is open now. */
  openDay: Pick<EventDay, 'dayId' | 'date'> | null
  kpis: KpisAnswer
  /** As the evening ran (eveningOf). */
  hours: HourBucket[]
  best: TopItem[]
  returned: TopItem[]
  counts: ItemCount[]
  statuses: Record<OrderStatus, number> | null
}

/**
 * The watermark of the figures, the offset from UTC of the event's time zone then (0 without one), and the server's
 * time, in milliseconds. A browser may have other time zone data.
 */
export type Beat = { asOfMs: number | null; offsetMs: number; nowMs: number }

/** Best sellers, and returned items. */
const mostRows = 8

/** Composes a screen as JSON (DayShown), with the functions of the API's answers, so that both agree. */
export function showDay(
  { event, revision, asOfMs, kpis, hours, items }: DayRead,
  dayId: number,
  statuses: DayShown['statuses'],
): string {
  const day = event.days.find(one => one.dayId === dayId)
  const open = openDay(event.days)
  const closedAt = day?.closedAt ?? null
  const all: ItemsDocument = JSON.parse(items)
  const { sold, returned } = partReturned(topItems(all, event, all.length))
  const buckets: HourBucket[] = JSON.parse(hours)
  const composed = {
    revision,
    eventName: event.name,
    dayId,
    date: day?.date ?? '',
    closedAt: closedAt && closedAt + offsetIn(event.timeZone)(closedAt),
    openDay: open === undefined || open === day ? null : { dayId: open.dayId, date: open.date },
    hours: eveningOf(buckets, { day, timeZone: event.timeZone, asOfMs }),
    best: sold.filter(({ quantity }) => quantity > 0).slice(0, mostRows),
    returned: returned.slice(0, mostRows),
    counts: itemCounts(all, event, undefined),
    statuses,
  } satisfies Omit<DayShown, 'kpis'>
  return `{"kpis":${kpis},${JSON.stringify(composed).slice(1)}`
}

/** The names of a day's documents over all areas, in the order of `textsOf`. */
export const viewsOf = (dayId: number): DocumentName[] =>
  views.map(view => documentName(view, dayId, allAreas))

/** The documents of `viewsOf`; a missing one is that of a day without orders. */
export function textsOf([kpis, hours, items]: (string | null | undefined)[]): DayTexts {
  return { kpis: kpis ?? empty.kpis, hours: hours ?? empty.hours, items: items ?? empty.items }
}

const empty: DayTexts = {
  kpis: JSON.stringify(emptyDocument.kpis),
  hours: JSON.stringify(emptyDocument.hours),
  items: JSON.stringify(emptyDocument.items),
}
