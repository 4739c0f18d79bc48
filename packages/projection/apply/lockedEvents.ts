import type { EventId } from '@tally/contract'
import { type LockedEvent, lockEvents } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { type Effects, noEffects, type Placed } from '../effects.ts'

/**
 * Locks the events of the records of one batch, and has the records applied that are not of a removed event
 * (`tally events remove`); those are ignored, and counted as such.
 */
export function withLockedEvents<Value extends { eventId: EventId }>(
  apply: (
    tx: Tx,
    shard: number,
    records: Placed<Value>[],
    locked: Map<EventId, LockedEvent>,
  ) => Promise<Effects>,
): (tx: Tx, shard: number, records: Placed<Value>[]) => Promise<Effects> {
  return async (tx, shard, records) => {
    const locked = await lockEvents(tx, [...new Set(records.map(({ value }) => value.eventId))], shard)
    const kept = withoutRemoved(records, locked)
    const effects = kept.length === 0 ? noEffects() : await apply(tx, shard, kept, locked)
    effects.counts.ignored = records.length - kept.length
    return effects
  }
}

/** Nearly always no event is removed, and the records are returned as they are. */
function withoutRemoved<Value extends { eventId: EventId }>(
  records: Placed<Value>[],
  locked: Map<EventId, LockedEvent>,
): Placed<Value>[] {
  if (![...locked.values()].some(({ isRemoved }) => isRemoved)) return records
  return records.filter(({ value }) => locked.get(value.eventId)?.isRemoved !== true)
}
