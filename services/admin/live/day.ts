import type { EventId, HourBucket, ItemCount, KpisAnswer, OrderStatus, TopItem } from '@tally/contract'
import { allAreas, type ItemsDocument, itemCounts, topItems } from '@tally/core'
import type { ReadVersion, StoredEvent } from '@tally/read-models'

/** The day that a screen shows. */
export type DayRef = { eventId: EventId; dayId: number }

/** What Redis or Postgres has of a day at one revision. */
export type DayRead = ReadVersion & {
  event: StoredEvent
  kpis: KpisAnswer
  hours: HourBucket[]
  items: ItemsDocument
}

/** What a screen shows of a day; `statuses` is null while nobody can tell them. */
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

/** Up to which moment everything is counted, and what time it is here, in epoch milliseconds. */
export type Beat = { asOfMs: number | null; nowMs: number }

const bestSellers = 8

/** Composes a screen with the rules of the API's own answers, so that both say the same. */
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

/** The names of a day's documents over all areas, in the order in which they are asked for. */
export const viewsOf = (dayId: number) =>
  (['kpis', 'hours', 'items'] as const).map(view => `${view}:${dayId}:${allAreas}` as const)
