import type { EventId } from '@tally/contract'
import type { CounterChanges } from '@tally/core'
import { changedSegments, type LockedEvent, type Write, writeBatch } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import type { Effects } from '../effects.ts'

/**
 * Writes a batch's orders or refunds, adds its changes to the counters, and stamps its revision on the events that it
 * changed. Returns the effects with the events and the revision. `changes` may hold an event without a changed counter:
 * its orders changed nevertheless.
 */
export async function storeChanges(
  tx: Tx,
  shard: number,
  {
    effects,
    locked,
    changes,
    writes,
  }: {
    effects: Effects
    locked: Map<EventId, LockedEvent>
    changes: Map<EventId, CounterChanges>
    writes: (Write | undefined)[]
  },
): Promise<Effects> {
  const revision = await writeBatch(tx, { shard, changes, writes })
  for (const [eventId, days] of changes) {
    const areas = [...days].flatMap(([dayId, ofDay]) =>
      [...ofDay].map(([areaId, { items }]) => ({
        eventId,
        dayId,
        areaId,
        segments: changedSegments(items),
      })),
    )
    const head = locked.get(eventId)
    // From now on the event's document must say that it is scattered.
    const isNewlyScattered = head !== undefined && head.shard !== shard && !head.isScattered
    effects.events.set(eventId, { before: head?.revision ?? 0, areas, event: isNewlyScattered })
  }
  return { ...effects, revision }
}
