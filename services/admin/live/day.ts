import {
  type EventDay,
  type EventId,
  type HourBucket,
  type ItemCount,
  type KpisAnswer,
  type OrderStatus,
  offsetIn,
  type TopItem,
  type TrendPoint,
} from '@tally/contract'
import {
  allAreas,
  composeTrendPoint,
  currentDay,
  type DocumentOf,
  documentName,
  emptyDocument,
  itemCounts,
  type PaymentFigures,
  type StoredEvent,
  topItems,
  type View,
} from '@tally/figures'
import type { ReadVersion } from '@tally/publication'
import type { DocumentTexts, Read } from '@tally/views'
import { dayLabel } from '../views/dayLabels.ts'
import { eveningHours, eveningOf } from './evening.ts'
import { partReturned } from './returned.ts'
import { datesOf, dayBefore } from './wanted.ts'

/** The day that a screen shows; without an area, over all areas. */
export type DayRef = { eventId: EventId; dayId: number; areaId?: number | undefined }

/**
 * A day as Redis or Postgres has it at one revision, with the documents of `wantedNames`; an empty or missing one is
 * that of a day without orders. Documents stay JSON: while they were kept as objects, a third of the process's time was
 * garbage collection (200 days).
 */
export type DayRead = ReadVersion & { event: StoredEvent; documents: DocumentTexts }

export const dayOf = ({ head: { event, revision }, ...read }: Read): DayRead => ({ event, revision, ...read })

/** An item of a day, in the order of the menu. */
type MenuCount = ItemCount & Pick<TopItem, 'categoryName' | 'revenue'>

/** The names that a screen shows with the figures, so that none stands under another name than its own. */
export type DayHeading = {
  eventName: string
  dayId: number
  /** Empty if the event no longer lists the day. */
  date: string
  /** What follows the date if another day has it too: ` 18:00`; else empty. */
  opened: string
  /** When the day was opened, in milliseconds of the event's own clock. */
  openedAt: number
  /** When it was closed, on that clock; null while it is open. */
  closedAt: number | null
}

/** What the live page shows of a day. `statuses` is null while Postgres does not answer. */
export type DayShown = DayHeading & {
  revision: number
  /** Another day that is open now. */
  openDay: Pick<DayHeading, 'dayId' | 'date' | 'opened'> | null
  kpis: KpisAnswer
  /** As the evening ran (eveningOf). */
  hours: HourBucket[]
  /** The hours of both evenings with a sale, and those of the open day; a closed one ends with its last sale. */
  evening: number[]
  /** The day before (dayBefore), which this one is compared with. */
  before: (Pick<DayHeading, 'dayId' | 'date' | 'opened'> & { totalSales: number; hours: HourBucket[] }) | null
  /** The sales trend of the event, with a day of each date. */
  days: (TrendPoint & { dayId: number; isOpen: boolean })[]
  best: TopItem[]
  bestByTakings: TopItem[]
  returned: TopItem[]
  counts: MenuCount[]
  /** Most takings first; they add up to the day's. */
  payments: Pick<PaymentFigures, 'paymentMethod' | 'orders' | 'takings'>[]
  statuses: Record<OrderStatus, number> | null
}

/**
 * The watermark of the figures, the offset from UTC of the event's time zone then (0 without one), and the server's
 * time, in milliseconds. A browser may have other time zone data.
 */
export type Beat = { asOfMs: number | null; offsetMs: number; nowMs: number }

/** What a stream sends of a day, as JSON on one line; screens with one name share what is composed. */
export type Composition =
  | { name: string; hasStatuses: true; compose: typeof showDay }
  | { name: string; hasStatuses: false; compose: (day: DayRead, ref: DayRef) => string }

/** Best sellers, and returned items. */
export const mostRows = 8

/** Composes the live page as JSON (DayShown), with the functions of the API's answers, so that both agree. */
export function showDay(read: DayRead, ref: Omit<DayRef, 'eventId'>, statuses: DayShown['statuses']): string {
  const { event, revision, asOfMs } = read
  const day = event.days.find(({ dayId }) => dayId === ref.dayId)
  const open = currentDay(event.days)
  const before = dayBefore(event, ref.dayId)
  const opening = { day, timeZone: event.timeZone, asOfMs }
  const hours = documentOf(read, 'hours', ref)
  const hoursBefore = before ? documentOf(read, 'hours', { ...ref, dayId: before.dayId }) : []
  return JSON.stringify({
    kpis: documentOf(read, 'kpis', ref),
    revision,
    ...headingOf(event, ref.dayId),
    openDay: open === undefined || open === day ? null : named(event, open),
    hours: eveningOf(hours, opening),
    evening: eveningHours([...hours, ...hoursBefore], opening),
    before:
      before === undefined
        ? null
        : { ...named(event, before), ...salesOf(read, ref, before), hours: hoursBefore },
    days: datesOf(event).map(one => trendOf(read, ref, one)),
    ...itemsOf(read, ref),
    payments: documentOf(read, 'payments', ref).map(({ paymentMethod, orders, takings }) => ({
      paymentMethod,
      orders,
      takings,
    })),
    statuses,
  } satisfies DayShown)
}

export const livePage: Composition = { name: 'live', hasStatuses: true, compose: showDay }

export function headingOf(event: StoredEvent, dayId: number): DayHeading {
  const day = event.days.find(one => one.dayId === dayId)
  const clock = (at: number) => at + offsetIn(event.timeZone)(at)
  return {
    eventName: event.name,
    dayId,
    date: day?.date ?? '',
    opened: openedOf(event, dayId),
    openedAt: clock(day?.openedAt ?? 0),
    closedAt: typeof day?.closedAt === 'number' ? clock(day.closedAt) : null,
  }
}

function openedOf(event: StoredEvent, dayId: number): string {
  const time = dayLabel(event, dayId)?.time
  return time === undefined ? '' : ` ${time}`
}

type Where = Omit<DayRef, 'eventId'>
const named = (event: StoredEvent, { dayId, date }: EventDay) => ({
  dayId,
  date,
  opened: openedOf(event, dayId),
})
const salesOf = (read: DayRead, ref: Where, { dayId }: EventDay) => ({
  totalSales: documentOf(read, 'kpis', { ...ref, dayId }).totalSales,
})

function trendOf(read: DayRead, ref: Where, { date, days }: ReturnType<typeof datesOf>[number]) {
  const kpis = days.map(({ dayId }) => documentOf(read, 'kpis', { ...ref, dayId }))
  const shown = currentDay(days) ?? (days.at(-1) as EventDay)
  return { ...composeTrendPoint(date, kpis), dayId: shown.dayId, isOpen: shown.closedAt === null }
}

/** The items of a day: the best by portions and by takings, the returned ones, and all as the menu lists them. */
function itemsOf(read: DayRead, ref: Where) {
  const { event } = read
  const items = documentOf(read, 'items', ref)
  const all = topItems(items, event, items.length)
  const { sold, returned } = partReturned(all)
  const best = sold.filter(({ quantity }) => quantity > 0)
  const figures = new Map<number, TopItem>(all.map(item => [item.menuItemId, item]))
  const places = new Map<number, number>(event.menuItems.map(({ menuItemId }, place) => [menuItemId, place]))
  const placeOf = ({ menuItemId }: ItemCount) => places.get(menuItemId) ?? places.size
  return {
    best: best.slice(0, mostRows),
    bestByTakings: best.toSorted((one, other) => other.revenue - one.revenue).slice(0, mostRows),
    returned: returned.slice(0, mostRows),
    counts: itemCounts(items, event, undefined)
      .map(count => {
        const { categoryName = '', revenue = 0 } = figures.get(count.menuItemId) ?? {}
        return { ...count, categoryName, revenue }
      })
      .toSorted((one, other) => placeOf(one) - placeOf(other)),
  }
}

/** A document of a day over one area or all. */
export const documentOf = <Name extends View>(
  { documents }: Pick<DayRead, 'documents'>,
  view: Name,
  { dayId, areaId = allAreas }: Where,
): DocumentOf[Name] =>
  JSON.parse(documents.get(documentName(view, dayId, areaId)) || JSON.stringify(emptyDocument[view]))
