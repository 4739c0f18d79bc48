import type { EventId, OrganizationId, Rejected } from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import {
  type AreaKey,
  type CounterChanges,
  type LockedEvent,
  lockEvents,
  type Write,
  writeBatch,
} from '@tally/figures'
import type { Tx } from '@tally/platform'

/** What a batch changed of one event, for its documents. `before` is the event's revision before the batch. */
export type EventEffect = {
  before: number
  /** Counters of these (day, area) changed, or of all of them. */
  areas: AreaKey[] | 'all'
  /** The event's own record changed. */
  event: boolean
}

/** What applying the records of one batch did; `revision` is undefined if nothing changed. */
export type Effects = {
  revision: number | undefined
  /** The partition's revision before the batch; a published mark below it is a gap. */
  since: number
  events: Map<EventId, EventEffect>
  /** Organizations whose record or list of events changed. */
  organizations: Set<OrganizationId>
  rejected: RejectedAt[]
  /** `ignored`: records of removed events. */
  counts: { applied: number; parked: number; duplicate: number; ignored: number }
}

export function noEffects(): Effects {
  return {
    revision: undefined,
    since: 0,
    events: new Map(),
    organizations: new Set(),
    rejected: [],
    counts: { applied: 0, parked: 0, duplicate: 0, ignored: 0 },
  }
}

/** Adds the outcome of one record to the effects of its batch. */
export function addOutcome(
  effects: Effects,
  offset: number,
  outcome: { outcome: 'applied' | 'parked' | 'duplicate' } | Rejected,
): void {
  if (outcome.outcome === 'rejected') effects.rejected.push({ offset, rejected: outcome })
  else effects.counts[outcome.outcome] += 1
}

/** A valid record of a batch with its offset. */
export type Placed<Value> = { offset: number; value: Value }

/** What one transaction applies of one partition. */
export type ShardPart<Value> = { shard: number; records: Placed<Value>[] }

/** `next`: the offset to read next. No `effects`: the stored offset differed. `hasMisplaced`: marked by this batch. */
export type Projected = { next: number; effects: Effects | undefined; hasMisplaced?: boolean }

/** The events of a transaction's records: the shard in which the records of each lie, and their locked heads. */
type LockedEvents = { shardOf: ReadonlyMap<EventId, number>; locked: Map<EventId, LockedEvent> }

/**
 * Locks the events of the records of one batch, and has the records applied that are not of a removed event
 * (`tally events remove`); those are ignored, and counted as such.
 */
export function withLockedEvents<Value extends { eventId: EventId }>(
  apply: (tx: Tx, shard: number, records: Placed<Value>[], events: LockedEvents) => Promise<Effects>,
): (tx: Tx, shard: number, records: Placed<Value>[]) => Promise<Effects> {
  return async (tx, shard, records) => {
    const shardOf = new Map(records.map(({ value }) => [value.eventId, shard]))
    const locked = await lockEvents(tx, shardOf)
    const kept = withoutRemoved(records, locked)
    const effects = kept.length === 0 ? noEffects() : await apply(tx, shard, kept, { shardOf, locked })
    effects.counts.ignored = records.length - kept.length
    return effects
  }
}

/** Nearly always no event is removed, and the records are returned as they are. */
export function withoutRemoved<Value extends { eventId: EventId }>(
  records: Placed<Value>[],
  locked: Map<EventId, LockedEvent>,
): Placed<Value>[] {
  if (![...locked.values()].some(({ isRemoved }) => isRemoved)) return records
  return records.filter(({ value }) => locked.get(value.eventId)?.isRemoved !== true)
}

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
