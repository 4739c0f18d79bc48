import type { EventId } from '@tally/contract'
import type { CounterChanges } from '../counting/changes.ts'
import type { Row } from '../counting/counter.ts'
import type { AreaChanges } from '../counting/counters.ts'

export type AreaKey = { eventId: EventId; dayId: number; areaId: number }

/** Counter changes as rows, sorted by (event, day, area): neighbours in an index are written one after the other. */
export function flattenAreas<Row>(
  changes: Map<EventId, CounterChanges>,
  toRows: (area: AreaChanges, key: AreaKey) => Row[],
): Row[] {
  return sorted(changes).flatMap(([eventId, days]) =>
    sorted(days).flatMap(([dayId, areas]) =>
      sorted(areas).flatMap(([areaId, area]) => toRows(area, { eventId, dayId, areaId })),
    ),
  )
}

/** The entries of a map by their keys, texts in the order of their UTF-16 units. */
export function sorted<Key extends string | number, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}

export const isZero = (row: Row): boolean => Object.values(row).every(amount => amount === 0)
