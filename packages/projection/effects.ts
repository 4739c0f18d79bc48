import type { EventId, OrganizationId, Rejected } from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import type { AreaKey } from '@tally/figures'

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

/** `next`: the offset to read next. No `effects`: the stored offset differed. `isForeign`: marked by this batch. */
export type Projected = { next: number; effects: Effects | undefined; isForeign?: boolean }
