import type { EpochMs, EventId, OrganizationId } from '@tally/contract'
import {
  type EventChoice,
  type EventOverview,
  lockEvents,
  lockOrganizations,
  readEventHeads,
  readEventList,
  readKnownEvents,
  removeEvent,
  stampOrganizations,
} from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Postgres, Tx } from '@tally/platform'
import { publishOrganizations } from '@tally/publication'
import { sql } from 'kysely'
import type { RepairDeps } from './deps.ts'
import { dropShadow, eventTables } from './fromKafka/shadow.ts'
import { publishWhole } from './rebuild/publishWhole.ts'
import { asOnlyRebuild, lockPartition, noteRevision } from './rebuild/run.ts'

type RemovalOptions = {
  /** The name of the topic of events. */
  eventsTopic: string
  /** Called in the transaction that removes an event, to note who did it. */
  onRemoved: (tx: Tx, event: RemovableEvent) => Promise<void>
  /** Orders deleted, and all that are to be deleted. */
  onProgress?: (done: number, all: number) => void
  /** Called once if what an interrupted rebuild from Kafka has read will be dropped. */
  onDropping?: () => void
}

/**
 * Removes events while the service runs (docs/operations.md, Removing events), each in two steps:
 *
 * 1. One short transaction locks the event as a batch does, deletes its record, marks it as removed and stamps a new
 *    revision. From its commit on, the API answers as for an unknown event, and projectors ignore records of it. Then
 *    Redis gets the event as it is now, without documents, under the usual guard. After a crash in between, the
 *    projector notices that Redis lacks the revision and publishes it.
 * 2. Its rows, which nothing reads or writes any more, are deleted in pieces of a few thousand. After a crash, the next
 *    run deletes what is left.
 *
 * No rebuild runs meanwhile: it would count rows that are being deleted.
 */
export function removeEvents(
  deps: RepairDeps,
  { events, unfinished }: ChosenEvents,
  options: RemovalOptions,
): Promise<void> {
  return asOnlyRebuild(deps.db, async locked => {
    await dropShadow(locked, options.onDropping)
    const all = events.reduce((sum, { orders }) => sum + orders, 0)
    let done = 0
    const clear = async ({ eventId, organizationId }: RemovedEvent): Promise<void> => {
      await publishWhole(deps, [eventId])
      if (organizationId !== null) await publishOrganizations(deps, [organizationId])
      for await (const orders of emptyEvent(locked, eventId)) {
        done += orders
        options.onProgress?.(done, Math.max(all, done))
      }
    }
    options.onProgress?.(done, all)
    for (const removed of unfinished) await clear(removed)
    for (const event of events)
      await clear(await locked.transaction().execute(tx => markRemoved(tx, event, options)))
  })
}

/**
 * Marks an event as removed, and returns it. Locks in the order of a batch: the partition, the event, its
 * organization; the revision is taken after that.
 */
async function markRemoved(
  tx: Tx,
  event: RemovableEvent,
  { eventsTopic: topic, onRemoved }: RemovalOptions,
): Promise<RemovedEvent> {
  const { eventId } = event
  await sql`set local lock_timeout = '30s'`.execute(tx)
  const [head] = await readEventHeads(tx, [eventId])
  if (head === undefined) throw new Error(`event ${eventId} is gone: run the command again`)
  const { shard } = head
  await lockPartition(tx, topic, shard)
  const locked = await lockEvents(tx, new Map([[eventId, shard]]))
  const organizationId = (await readKnownEvents(tx, [eventId])).get(eventId)?.organizationId ?? null
  // Another run was faster.
  if (locked.get(eventId)?.isRemoved) return { eventId, organizationId }
  const organizations = organizationId === null ? [] : [organizationId]
  if (organizations.length > 0) await lockOrganizations(tx, organizations)
  const revision = await nextRevision(tx)
  await removeEvent(tx, { eventId, organizationId }, revision)
  await stampOrganizations(tx, organizations, revision)
  await noteRevision(tx, { topic, partition: shard, revision })
  await onRemoved(tx, event)
  return { eventId, organizationId }
}

/** An event that can be removed. */
type RemovableEvent = EventOverview & { eventId: EventId }

/** An event that was removed; without an organization if no record of it had been applied. */
type RemovedEvent = { eventId: EventId; organizationId: OrganizationId | null }

/** What a removal would remove. `unfinished`: events that an interrupted run has removed and not emptied. */
export type ChosenEvents = {
  events: RemovableEvent[]
  removedBefore: EventId[]
  unfinished: RemovedEvent[]
}

/** Chooses events by id. Throws a sentence if one was never known. */
export async function chooseByIds(db: Postgres, eventIds: EventId[]): Promise<ChosenEvents> {
  const ids = [...new Set(eventIds)]
  const events = await removable(db, { eventIds: ids })
  const removed = await db
    .selectFrom('removed_events')
    .select('event_id')
    .where('event_id', 'in', ids)
    .execute()
  const removedBefore = removed.map(({ event_id }) => event_id as EventId)
  const known = new Set([...events.map(({ eventId }) => eventId), ...removedBefore])
  const unknown = ids.filter(id => !known.has(id))
  if (unknown.length > 0)
    throw new Error(`there is no event ${unknown.join(', nor ')}: see \`tally events list\``)
  return { events, removedBefore, unfinished: await readUnfinished(db) }
}

/** Chooses the events whose start, days and last sale are all before a time. */
export async function chooseByAge(db: Postgres, endedBefore: EpochMs): Promise<ChosenEvents> {
  const events = await removable(db, { endedBefore })
  return { events, removedBefore: [], unfinished: await readUnfinished(db) }
}

/** The time that lies `interval`, as Postgres reads it, before now: by the clock that `asOf` uses too. */
export async function readTimeBefore(db: Postgres, interval: string): Promise<EpochMs> {
  const { rows } = await sql<{ at: EpochMs }>`
select (extract(epoch from now() - ${interval}::interval) * 1000)::bigint as at`.execute(db)
  return (rows[0] as { at: EpochMs }).at
}

async function removable(db: Postgres, choice: EventChoice): Promise<RemovableEvent[]> {
  const events = await readEventList(db, choice)
  return events.filter((event): event is RemovableEvent => event.eventId !== null)
}

async function readUnfinished(db: Postgres): Promise<RemovedEvent[]> {
  const { rows } = await sql<RemovedEvent>`
select event_id as "eventId", organization_id as "organizationId"
from removed_events
where emptied_at is null
order by event_id`.execute(db)
  return rows
}

/** Rows per transaction: tens of milliseconds of work. */
const pieceSize = 5_000

/** Deletes all rows of a removed event piece by piece, and notes the end. Yields how many orders each piece had. */
async function* emptyEvent(db: Postgres, eventId: EventId): AsyncGenerator<number> {
  for (const table of eventTables) {
    for (let deleted = pieceSize; deleted === pieceSize; ) {
      deleted = await deletePiece(db, table, eventId)
      yield table === 'orders' ? deleted : 0
    }
  }
  await sql`update removed_events set emptied_at = now() where event_id = ${eventId}`.execute(db)
}

async function deletePiece(db: Postgres, table: string, eventId: EventId): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
delete from ${sql.id(table)}
where ctid = any(array(select ctid from ${sql.id(table)} where event_id = ${eventId} limit ${pieceSize}))`.execute(
    db,
  )
  return Number(numAffectedRows)
}
