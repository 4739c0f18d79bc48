import { setTimeout as sleep } from 'node:timers/promises'
import type { EventId, OrganizationId } from '@tally/contract'
import { deleteEmptied, lockEvents, lockOrganizations, stampOrganizations } from '@tally/figures'
import { partitionKey, type TopicNames } from '@tally/kafka'
import { nextRevision } from '@tally/offsets'
import { isTransient, type Postgres, type Tx } from '@tally/platform'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import { publishOrganizationsWhole, publishWhole } from '../rebuild/publishWhole.ts'
import type { Follower } from './follow.ts'
import { countMissing, describeMissing, extraEvents, madeEvents, refusal } from './missing.ts'
import { eventTables, shadowSchema } from './shadow.ts'

/** `locked`: the connection that a rebuild writes through (rebuild/run.ts). */
type SwitchDeps = RepairDeps & {
  locked: Postgres
  shadow: Postgres
  follower: Pick<Follower, 'reach' | 'release'>
  topics: TopicNames
  /** Whether records that the topics do not hold may be removed. */
  mayRemove: boolean
  /** Called once if some were removed, with how many. */
  onRemoved: (what: string) => void
}

const switchTries = 5

/**
 * Switches everything to what was read from the topics, in one transaction: it locks the stored offsets, so that the
 * live projectors wait, applies the last records up to exactly these offsets, and commits. Readers see each event's old
 * or new rows. Then everything is published whole. After a crash before the commit nothing has happened;
 * after it the projectors see that Redis lacks this revision and publish it. Returns the number of events; throws if
 * records would be removed and may not be.
 */
export async function switchAll(deps: SwitchDeps): Promise<number> {
  // Counters that only superseded versions of orders used take room of an event; `tally rebuild` frees it too.
  for (const [id, shard] of await madeEvents(deps.locked))
    await withTries(() => freeRoom(deps.shadow, id, shard))
  const { events, extra, organizations, revision, missing } = await withTries(() => switchRows(deps))
  if (missing.length > 0) deps.onRemoved(describeMissing(missing, deps.topics))
  for (const id of extra) await deps.redis.del(deps.keys.event(id))
  await publishOrganizationsWhole(
    deps,
    organizations.map(id => ({ id, revision })),
  )
  await publishWhole(deps, events)
  return events.length
}

const freeRoom = (shadow: Postgres, eventId: EventId, shard: number): Promise<void> =>
  shadow.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[eventId, shard]]))
    await deleteEmptied(tx, eventId)
  })

/** A switch that had to wait too long, or was deadlocked with a projector, is rolled back and tried again. */
async function withTries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === switchTries || !isTransient(error)) throw error
      await sleep(tries * 500)
    }
  }
}

async function switchRows({ locked, follower, topics, mayRemove }: SwitchDeps) {
  const sources = [topics.organizations, topics.events, topics.orders, topics.refunds]
  try {
    return await locked.transaction().execute(async tx => {
      // The gap between two statements may last as long as reading the last records takes.
      await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(tx)
      const reached = await follower.reach(await lockAllOffsets(tx, sources))
      await storeReached(tx, sources, reached)

      const made = await madeEvents(tx)
      const extra = await extraEvents(tx)
      await lockEvents(tx, new Map([...made, ...extra.map(id => [id, 0] as const)]))
      const organizations = await readOrganizationIds(tx)
      await lockOrganizations(tx, organizations)
      const events = [...made.keys()]
      const missing = await countMissing(tx, [...events, ...extra])
      if (missing.length > 0 && !mayRemove) throw new Error(refusal(missing, topics))

      await removeRows(tx, extra)
      for (const table of eventTables) await copyRows(tx, table, events)
      await copyRows(tx, 'organizations', organizations)
      const revision = await nextRevision(tx)
      await stampMade(tx, events, revision)
      await stampOrganizations(tx, organizations, revision)
      await sql`
update shard_offsets set revision = greatest(revision, ${revision}::bigint)
where topic in (${topics.events}, ${topics.organizations})`.execute(tx)
      return { events, extra, organizations, revision, missing }
    })
  } finally {
    follower.release()
  }
}

/** Locks the live offsets, and returns them by partition key. */
async function lockAllOffsets(tx: Tx, topics: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ topic: string; partition: number; next: number }>`
select topic, partition, next_offset as next
from shard_offsets
where topic = any(${topics}::text[])
order by topic, partition
for update`.execute(tx)
  return new Map(rows.map(({ next, ...of }) => [partitionKey(of), next]))
}

/**
 * Stores the offsets that the shadow reached, from which the live projector reads on: those it had, unless a topic was
 * created again. Throws if they are not those of the shadow: it has lost them, or partitions were added meanwhile,
 * which it does not read; what the projector has applied of these would be overwritten.
 */
async function storeReached(tx: Tx, topics: string[], reached: Map<string, number>): Promise<void> {
  const { rows } = await sql<{ topic: string; partition: number; next: number }>`
update shard_offsets as kept
set next_offset = made.next_offset, fingerprint = made.fingerprint, fingerprint_offset = made.fingerprint_offset
from ${sql.id(shadowSchema, 'shard_offsets')} as made
where made.topic = kept.topic and made.partition = kept.partition and kept.topic = any(${topics}::text[])
returning kept.topic, kept.partition, kept.next_offset as next`.execute(tx)
  // The next projector stores the log's id from Kafka: the topic may have been created again.
  await sql`delete from partition_logs where topic = any(${topics}::text[])`.execute(tx)
  const made = new Map(rows.map(({ next, ...of }) => [partitionKey(of), next]))
  for (const [key, next] of reached) {
    if (made.get(key) === next || (next === 0 && !made.has(key))) continue
    const why =
      made.has(key) || made.size === 0
        ? 'Postgres has lost what was read from the topics (did it crash?)'
        : 'partitions were added while the topics were read'
    throw new Error(`${why}: run this command again`)
  }
}

/**
 * Stamps the events with a new revision, and marks those whose records the shadow found in several shards. A head that
 * was lost and is inserted again starts unmarked, and `asOf` of its event would cover its first shard only.
 */
async function stampMade(tx: Tx, eventIds: EventId[], revision: number): Promise<void> {
  await sql`
update event_heads as kept
set revision = ${revision}, changed_at = now(),
  is_scattered = kept.is_scattered or made.is_scattered or made.shard <> kept.shard
from ${sql.id(shadowSchema, 'event_heads')} as made
where kept.event_id = any(${eventIds}::uuid[]) and made.event_id = kept.event_id`.execute(tx)
}

async function readOrganizationIds(tx: Tx): Promise<OrganizationId[]> {
  const { rows } = await sql<{ id: OrganizationId }>`
select organization_id as id from organizations
union select organization_id from ${sql.id(shadowSchema, 'organizations')}
order by id`.execute(tx)
  return rows.map(({ id }) => id)
}

/**
 * Makes the live rows of some events or organizations (`ids`) those of the shadow. Only rows that differ are written:
 * nearly all are right already, and the projectors wait meanwhile. The shadow's columns are those of the live
 * table, in their order.
 */
async function copyRows(tx: Tx, table: string, ids: string[]): Promise<void> {
  const key = await primaryKeyOf(tx, table)
  const [column] = key
  const ofThese = sql`${sql.id(column)} = any(${ids}::uuid[])`
  const [to, from] = [sql.id(table), sql.id(shadowSchema, table)]
  const isSameKey = sql.join(
    key.map(column => sql`kept.${sql.id(column)} = made.${sql.id(column)}`),
    sql` and `,
  )
  await sql`
delete from ${to} as kept
where kept.${ofThese}
  and not exists (select from ${from} as made where ${isSameKey} and made::text = kept::text)`.execute(tx)
  await sql`
insert into ${to}
select made.* from ${from} as made
where made.${ofThese} and not exists (select from ${to} as kept where ${isSameKey})`.execute(tx)
}

/** Takes away all rows of some events. */
async function removeRows(tx: Tx, eventIds: string[]): Promise<void> {
  if (eventIds.length === 0) return
  for (const table of [...eventTables, 'event_heads']) {
    await sql`delete from ${sql.id(table)} where event_id = any(${eventIds}::uuid[])`.execute(tx)
  }
}

/** The columns of a table's primary key; the first is the id of the event or organization. */
async function primaryKeyOf(tx: Tx, table: string): Promise<[string, ...string[]]> {
  const { rows } = await sql<{ name: string }>`
select attname::text as name
from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
where indrelid = ${table}::regclass and indisprimary
order by array_position(indkey::int2[], attnum)`.execute(tx)
  return rows.map(({ name }) => name) as [string, ...string[]]
}
