import type { Event, EventId, OrganizationId } from '@tally/contract'
import type { Instant, Tx } from '@tally/platform'
import { type ColumnType, type Generated, sql } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    event_heads: EventHeadTable
    events: EventTable
    removed_events: RemovedEventTable
  }
}

/**
 * One narrow row per event with any record. A batch locks it before reading what is known, and stamps it with its
 * revision (docs/architecture.md, invariant 3).
 */
type EventHeadTable = {
  event_id: string
  /** The partition of its first record. */
  shard: number
  revision: number
  /** Whether it also has records in other partitions. */
  is_scattered: ColumnType<boolean, boolean | undefined, boolean>
  /** Whether the event was removed: further records of it are ignored. */
  is_removed: ColumnType<boolean, boolean | undefined, boolean>
  /** When the last batch that changed it began. */
  changed_at: Instant
  /** The revision at which its size was last measured (sizes.ts): orders, counters, and the memory of its documents. */
  measured_revision: Generated<number>
  counted_rows: Generated<number>
  redis_bytes: Generated<number>
}

/** An event that was removed, for good. `emptied_at`: when the last of its rows was deleted; null if some are left. */
type RemovedEventTable = {
  event_id: string
  /** Null if no record of the event had been applied. */
  organization_id: string | null
  removed_at: Instant
  emptied_at: Instant<null>
}

/** The event at its latest version; `document` is the contract's `Event` as JSON. */
type EventTable = {
  event_id: string
  organization_id: string
  version: number
  time_zone: string
  document: string
}

export type LockedEvent = {
  revision: number
  /** The shard of its first record; it never changes. */
  shard: number
  /** Whether it also has records in other shards. */
  isScattered: boolean
  /** Whether it was removed: its records are ignored. */
  isRemoved: boolean
}

/**
 * Locks the heads of these events until the transaction ends, in the same order for all batches, and returns them. New
 * ones are inserted with the shard given here. Until then no other transaction writes their orders or counters.
 */
export async function lockEvents(
  tx: Tx,
  shardOf: ReadonlyMap<EventId, number>,
): Promise<Map<EventId, LockedEvent>> {
  const eventIds = [...shardOf.keys()]
  // Nearly always all exist, and nothing has to be inserted.
  let heads = await lockHeads(tx, eventIds)
  if (heads.length < eventIds.length) {
    await sql`
insert into event_heads (event_id, shard, revision, is_removed)
select id, shard, 0, exists (select from removed_events where event_id = id)
from unnest(${eventIds}::uuid[], ${[...shardOf.values()]}::int[]) as new (id, shard)
order by id
on conflict do nothing`.execute(tx)
    heads = await lockHeads(tx, eventIds)
  }
  return new Map(heads.map(({ eventId, ...head }) => [eventId, head]))
}

/** Locks the heads of all these events or of none: two batches that locked only some could deadlock. */
async function lockHeads(tx: Tx, eventIds: EventId[]): Promise<(LockedEvent & { eventId: EventId })[]> {
  const { rows } = await sql<LockedEvent & { eventId: EventId }>`
select event_id as "eventId", revision, shard, is_scattered as "isScattered", is_removed as "isRemoved"
from event_heads
where event_id = any(${eventIds}::uuid[])
  and (select count(*) from event_heads where event_id = any(${eventIds}::uuid[])) = ${eventIds.length}
order by event_id
for update`.execute(tx)
  return rows
}

export type KnownEvent = Pick<Event, 'version' | 'organizationId' | 'timeZone'>

/**
 * What is known of these events, which must be locked; events without a record are absent. A separate statement,
 * because one that waited for a lock still sees other tables as they were before it waited.
 */
export async function readKnownEvents(tx: Tx, eventIds: EventId[]): Promise<Map<EventId, KnownEvent>> {
  const { rows } = await sql<KnownEvent & { event_id: EventId }>`
select event_id, version, organization_id as "organizationId", time_zone as "timeZone"
from events
where event_id = any(${eventIds}::uuid[])`.execute(tx)
  return new Map(rows.map(({ event_id, ...known }) => [event_id, known]))
}

/** These events, which must be locked, as their applied records say; only for records that repeat a version. */
export async function readAppliedEvents(tx: Tx, eventIds: EventId[]): Promise<Map<EventId, Event>> {
  const { rows } = await sql<{ event_id: EventId; document: string }>`
select event_id, document from events where event_id = any(${eventIds}::uuid[])`.execute(tx)
  return new Map(rows.map(({ event_id, document }) => [event_id, JSON.parse(document) as Event]))
}

/** Stamps a batch's revision on every event that it changed (docs/architecture.md, invariant 3). */
export async function stampEvents(
  tx: Tx,
  eventIds: EventId[],
  shard: number,
  revision: number,
): Promise<void> {
  await sql`
update event_heads
set revision = ${revision}, changed_at = now(), is_scattered = is_scattered or shard <> ${shard}
where event_id = any(${eventIds}::uuid[])`.execute(tx)
}

/** Stores events at their winning version; at most one of each event. */
export async function storeEvents(tx: Tx, events: Event[]): Promise<void> {
  await sql`
insert into events (event_id, organization_id, version, time_zone, document)
select * from unnest(
  ${events.map(({ eventId }) => eventId)}::uuid[],
  ${events.map(({ organizationId }) => organizationId)}::uuid[],
  ${events.map(({ version }) => version)}::bigint[],
  ${events.map(({ timeZone }) => timeZone)}::text[],
  ${events.map(event => JSON.stringify(event))}::json[]
)
on conflict (event_id) do update
set version = excluded.version, time_zone = excluded.time_zone, document = excluded.document`.execute(tx)
}

/**
 * Removes a locked event from what is answered, under a new revision: its record, and for good whatever further records
 * say. Its orders, refunds and counters stay; nothing reads or writes them any more.
 */
export async function removeEvent(
  tx: Tx,
  { eventId, organizationId }: { eventId: EventId; organizationId: OrganizationId | null },
  revision: number,
): Promise<void> {
  await sql`
with record as (delete from events where event_id = ${eventId}),
head as (update event_heads set is_removed = true, revision = ${revision}, changed_at = now() where event_id = ${eventId})
insert into removed_events (event_id, organization_id) values (${eventId}, ${organizationId})`.execute(tx)
}
