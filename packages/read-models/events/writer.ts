import type { Event, EventId } from '@tally/contract'
import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'

export type LockedEvent = {
  revision: number
  timeZone: string
  known: Pick<Event, 'version' | 'organizationId'> | undefined
}

/**
 * Locks the heads of these events (making those that are new) until the transaction ends, in one order for all
 * batches, and returns what is known of each. Until then nobody else writes orders or counters of them.
 */
export async function lockEvents(
  tx: Tx,
  eventIds: EventId[],
  shard: number,
): Promise<Map<EventId, LockedEvent>> {
  await sql`
insert into event_heads (event_id, shard, revision)
select id, ${shard}, 0 from unnest(${eventIds}::uuid[]) as id
order by id
on conflict do nothing`.execute(tx)
  const { rows } = await sql<HeadRow>`
select head.event_id, head.revision, event.time_zone, event.version, event.organization_id
from event_heads as head
left join events as event using (event_id)
where head.event_id = any(${eventIds}::uuid[])
order by head.event_id
for update of head`.execute(tx)
  return new Map(rows.map(row => [row.event_id, fromRow(row)]))
}

type HeadRow = {
  event_id: EventId
  revision: number
  time_zone: string | null
  version: number | null
  organization_id: Event['organizationId'] | null
}

function fromRow({ revision, time_zone, version, organization_id }: HeadRow): LockedEvent {
  const known =
    version === null || organization_id === null ? undefined : { version, organizationId: organization_id }
  return { revision, timeZone: time_zone ?? 'UTC', known }
}

/** Stamps a batch's revision on every event that it changed (design.md, invariant 3). */
export async function stampEvents(
  tx: Tx,
  eventIds: EventId[],
  shard: number,
  revision: number,
): Promise<void> {
  await sql`
update event_heads set revision = ${revision}, shard = ${shard} where event_id = any(${eventIds}::uuid[])`.execute(
    tx,
  )
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
