import type { EventId, HourBucket, ItemCount, KpisAnswer, OrderStatus, TopItem } from '@tally/contract'
import { allAreas, type ItemsDocument, itemCounts, topItems } from '@tally/core'
import type { ReadVersion, StoredEvent } from '@tally/read-models'

/** The day that a screen shows. */
export type DayRef = { eventId: EventId; dayId: number }

/** A day as Redis or Postgres has it at one revision. */
export type DayRead = ReadVersion & {
  event: StoredEvent
  kpis: KpisAnswer
  hours: HourBucket[]
  items: ItemsDocument
}

/** What a screen shows of a day; `statuses` is null while Postgres does not answer. */
export type DayShown = {
  revision: number
  eventName: string
  date: string
  isOpen: boolean
  kpis: KpisAnswer
  hours: HourBucket[]
  best: TopItem[]
  counts: ItemCount[]
  statuses: Record<OrderStatus, number> | null
}

/** The watermark of the figures and the server's time, in epoch milliseconds. */
export type Beat = { asOfMs: number | null; nowMs: number }

const bestSellers = 8

/** Composes a screen with the functions of the API's answers, so that both agree. */
export function showDay(
  { event, revision, kpis, hours, items }: DayRead,
  dayId: number,
  statuses: Record<OrderStatus, number> | null,
): DayShown {
  const day = event.days.find(one => one.dayId === dayId)
  return {
    revision,
    eventName: event.name,
    date: day?.date ?? '',
    isOpen: day?.closedAt === null,
    kpis,
    hours,
    best: topItems(items, event, bestSellers),
    counts: itemCounts(items, event, undefined),
    statuses,
  }
}

/** The names of a day's documents over all areas, in the order of `documentsOf`. */
export const viewsOf = (dayId: number) =>
  (['kpis', 'hours', 'items'] as const).map(view => `${view}:${dayId}:${allAreas}` as const)
