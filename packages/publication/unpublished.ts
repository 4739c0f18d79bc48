import type { AreaKey } from '@tally/figures'

/**
 * What Redis lacks of an event: everything (`whole`), or the documents of some (day, area), and possibly the event's
 * record, that changed from revision `since` to revision `to`. `areas` is by `areaOf`.
 */
export type Unpublished =
  | { whole: true }
  | { whole: false; since: number; to: number; areas: Map<string, AreaKey>; event: boolean }

export const areaOf = (dayId: number, areaId: number): string => `${dayId}:${areaId}`

/** Merges two differences if the later one begins at the revision at which the earlier one ends. */
export function joinUnpublished(one: Unpublished | undefined, other: Unpublished): Unpublished {
  if (one === undefined) return other
  if (one.whole || other.whole) return { whole: true }
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (earlier.to !== later.since) return { whole: true }
  const areas = new Map([...earlier.areas, ...later.areas])
  return { whole: false, since: earlier.since, to: later.to, areas, event: earlier.event || later.event }
}
