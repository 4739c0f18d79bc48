import type { EventId } from '@tally/contract'
import { type CounterChanges, type Write, writeBatch } from '@tally/figures'
import type { Tx } from '@tally/platform'
import type { EventEffect } from '../effects.ts'
import type { LockedEvents } from './lockedEvents.ts'

/**
 * Writes orders or refunds, adds their changes to the counters, and stamps a revision on the events that they changed.
 * Returns both. `changes` may hold an event without a changed counter: its orders changed nevertheless.
 */
export async function storeChanges(
  tx: Tx,
  { shardOf, locked }: LockedEvents,
  { changes, writes }: { changes: Map<EventId, CounterChanges>; writes: (Write | undefined)[] },
): Promise<{ revision: number; events: Map<EventId, EventEffect> }> {
  // From now on the documents of these events must say that they are scattered.
  const isNewlyScattered = (id: EventId): boolean => {
    const head = locked.get(id)
    return head !== undefined && head.shard !== shardOf.get(id) && !head.isScattered
  }
  const scattered = new Set([...changes.keys()].filter(isNewlyScattered))
  const revision = await writeBatch(tx, { changes, scattered: [...scattered], writes })
  const events = new Map<EventId, EventEffect>()
  for (const [eventId, days] of changes) {
    const areas = [...days].flatMap(([dayId, ofDay]) =>
      [...ofDay.keys()].map(areaId => ({ eventId, dayId, areaId })),
    )
    const before = locked.get(eventId)?.revision ?? 0
    events.set(eventId, { before, areas, event: scattered.has(eventId) })
  }
  return { revision, events }
}
