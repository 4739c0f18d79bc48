import type { EventId } from '@tally/contract'
import type { CounterChanges } from '@tally/core'
import {
  addDaily,
  addHourly,
  addItems,
  addOrderSlots,
  type LockedEvent,
  nextRevision,
  stampEvents,
  type Tx,
} from '@tally/read-models'
import type { Effects } from '../effects.ts'

/**
 * Adds a batch's changes to the counters and stamps its revision on the events it changed; returns the effects
 * with both. An event may be there with no change of a counter: its orders changed all the same.
 */
export async function storeChanges(
  tx: Tx,
  shard: number,
  {
    effects,
    locked,
    changes,
  }: { effects: Effects; locked: Map<EventId, LockedEvent>; changes: Map<EventId, CounterChanges> },
): Promise<Effects> {
  await addDaily(tx, changes)
  await addHourly(tx, changes)
  await addItems(tx, changes)
  await addOrderSlots(tx, changes)
  const revision = await nextRevision(tx)
  await stampEvents(tx, [...changes.keys()], shard, revision)
  for (const [eventId, days] of changes) {
    const areas = [...days].flatMap(([dayId, ofDay]) =>
      [...ofDay.keys()].map(areaId => ({ eventId, dayId, areaId })),
    )
    effects.events.set(eventId, { before: locked.get(eventId)?.revision ?? 0, areas, event: false })
  }
  return { ...effects, revision }
}
