import {
  type Event,
  type EventAnswer,
  type EventId,
  formatTimestamp,
  type OrganizationId,
} from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { currentDay } from '../time.ts'

/**
 * An event as stored, with the shard of its first record. It is scattered if its records came through several shards
 * (partitions were added, or producers use different partitioners): then no single shard's hash in Redis says how
 * current its documents are.
 */
export type StoredEvent = Event & { shard: number; isScattered?: true }

/** Changes whenever the stored event changes: its record's version, and whether it is scattered. */
export const versionOf = ({ version, isScattered }: StoredEvent): string =>
  isScattered ? `${version} scattered` : String(version)

export type EventHead = {
  eventId: EventId
  shard: number
  revision: number
  /** The epoch of the database that the head was read from; null: not open. */
  epoch: number | null
  event: StoredEvent | undefined
  /** Whether the event was removed; its rows may not be deleted yet. */
  isRemoved: boolean
}

/** The heads of these events, each with its event if that is known. */
export async function readEventHeads(db: Kysely<Database>, eventIds: EventId[]): Promise<EventHead[]> {
  if (eventIds.length === 0) return []
  const rows = await db
    .selectFrom('event_heads as head')
    .leftJoin('events as event', 'event.event_id', 'head.event_id')
    .select([
      'head.event_id',
      'head.shard',
      'head.revision',
      'head.is_scattered',
      'head.is_removed',
      'event.document',
    ])
    .select(sql<number | null>`(select current_epoch())`.as('epoch'))
    .where('head.event_id', 'in', eventIds)
    .execute()
  return rows.map(
    ({ event_id, shard, revision, epoch, is_scattered: isScattered, is_removed, document }) => ({
      eventId: event_id as EventId,
      shard,
      revision,
      epoch,
      event: document === null ? undefined : storedEvent(document, shard, isScattered),
      isRemoved: is_removed,
    }),
  )
}

/** The event of a row of `events` and of its head. */
export function storedEvent(document: string, shard: number, isScattered: boolean): StoredEvent {
  return { ...(JSON.parse(document) as Event), shard, ...(isScattered ? { isScattered } : {}) }
}

/** The shard that an event's first record came through, undefined for an unknown event. */
export async function readShard(db: Kysely<Database>, eventId: EventId): Promise<number | undefined> {
  const row = await db
    .selectFrom('event_heads')
    .select('shard')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return row?.shard
}

/** The fields of the event list, and the areas; menus, which may be long, are not read. */
export type ListedEvent = Pick<Event, 'eventId' | 'name' | 'startDate' | 'timeZone' | 'areas' | 'days'>

/**
 * All events of an organization, or the one of this id if it has it. Each document is parsed once: with `->` for each
 * of four fields, 120 events of 0.55 MB took 3.5 s instead of 0.4 s, and no other document was published meanwhile.
 */
export async function readEventsOf(
  db: Kysely<Database>,
  organizationId: OrganizationId,
  eventId?: EventId,
): Promise<ListedEvent[]> {
  const { rows } = await sql<{ document: string }>`
select json_build_object('eventId', event_id, 'name', listed.name, 'startDate', listed."startDate",
  'timeZone', listed."timeZone", 'areas', listed.areas, 'days', listed.days) as document
from events,
  json_to_record(document) as listed (name text, "startDate" bigint, "timeZone" text, areas json, days json)
where organization_id = ${organizationId}
  and (${eventId ?? null}::uuid is null or event_id = ${eventId ?? null})`.execute(db)
  return rows.map(({ document }) => JSON.parse(document) as ListedEvent)
}

/** An event's revision, and whether it has been quiet so long that its documents may have expired in Redis. */
type ChangedEvent = { eventId: EventId; shard: number; revision: number; isQuiet: boolean }

/** Events of a shard, and scattered events, that changed after `revision`. */
export async function readEventsSince(
  db: Kysely<Database>,
  { shard, revision, quietMs }: { shard: number; revision: number; quietMs: number },
): Promise<ChangedEvent[]> {
  const { rows } = await sql<ChangedEvent>`
select event_id as "eventId", shard, revision, ${isQuiet(quietMs)} as "isQuiet"
from event_heads
where (shard = ${shard} or is_scattered) and revision > ${revision}`.execute(db)
  return rows
}

/**
 * Whether an event of `event_heads` has not changed for `quietMs`, or has no record yet. Its documents may be missing
 * in Redis: they were written after its last change and live for `quietMs`, and without a record there are none.
 * Those of any other event cannot be.
 */
export const isQuiet = (quietMs: number): RawBuilder<boolean> => sql<boolean>`(
  changed_at < now() - ${quietMs} * interval '1 millisecond'
  or not is_removed and not exists (select from events where events.event_id = event_heads.event_id)
)`

/** The same for one event; false if it is unknown. */
export async function readIsQuiet(db: Kysely<Database>, eventId: EventId, quietMs: number): Promise<boolean> {
  const { rows } = await sql<{ quiet: boolean }>`
select ${isQuiet(quietMs)} as quiet from event_heads where event_id = ${eventId}`.execute(db)
  return rows[0]?.quiet ?? false
}

/** The event as the API shows it (docs/api.md, Fields). */
export function composeEvent({
  eventId,
  name,
  startDate,
  days,
}: Pick<Event, 'eventId' | 'name' | 'startDate' | 'days'>): EventAnswer {
  const day = currentDay(days)
  return {
    id: eventId,
    name,
    startDate: formatTimestamp(startDate),
    isOpen: day !== undefined,
    currentDay:
      day === undefined ? null : { id: day.dayId, date: day.date, openedAt: formatTimestamp(day.openedAt) },
  }
}

/** The order of the event list: startDate descending, then id ascending (docs/api.md, Answers). */
export function compareEvents(
  one: Pick<Event, 'eventId' | 'startDate'>,
  other: Pick<Event, 'eventId' | 'startDate'>,
): number {
  return other.startDate - one.startDate || (one.eventId < other.eventId ? -1 : 1)
}
