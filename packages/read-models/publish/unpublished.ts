import type { AreaKey } from '../counterRows.ts'
import { segmentOf } from '../documents/segments.ts'

/** A (day, area) of an event that changed, with the segments of its items document that did (documents/segments.ts). */
export type ChangedArea = AreaKey & { segments: ReadonlySet<number> | 'all' }

/**
 * What Redis lacks of an event: everything (`whole`), or the documents of some (day, area), and possibly the event's
 * record, that changed from revision `since` to revision `to`. `areas` is by `areaOf`.
 */
export type Unpublished =
  | { whole: true }
  | { whole: false; since: number; to: number; areas: Map<string, ChangedArea>; event: boolean }

export const areaOf = (dayId: number, areaId: number): string => `${dayId}:${areaId}`

/** Above this number all segments are published: to tell which ones changed would take longer. */
const fewItems = 32

/** The segments of changed menu items. */
export function changedSegments(items: ReadonlyMap<number, unknown>): ChangedArea['segments'] {
  return items.size > fewItems ? 'all' : new Set(Array.from(items.keys(), segmentOf))
}

/** Merges two differences if the later one begins at the revision at which the earlier one ends. */
export function joinUnpublished(one: Unpublished | undefined, other: Unpublished): Unpublished {
  if (one === undefined) return other
  if (one.whole || other.whole) return { whole: true }
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (earlier.to !== later.since) return { whole: true }
  const areas = new Map(earlier.areas)
  for (const [key, area] of later.areas) areas.set(key, joinAreas(areas.get(key), area))
  return { whole: false, since: earlier.since, to: later.to, areas, event: earlier.event || later.event }
}

function joinAreas(one: ChangedArea | undefined, other: ChangedArea): ChangedArea {
  if (one === undefined) return other
  if (one.segments === 'all' || other.segments === 'all') return { ...other, segments: 'all' }
  const segments = new Set([...one.segments, ...other.segments])
  return { ...other, segments: segments.size > fewItems ? 'all' : segments }
}
