import { setTimeout as sleep } from 'node:timers/promises'
import type { EventId, OrganizationId } from '@tally/contract'
import { lockEvents, lockOrganizations, stampOrganizations } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import { isTransient, type Postgres, type Tx } from '@tally/platform'
import { sql } from 'kysely'
import { publishOrganizationsWhole, publishWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/run.ts'
import { notYet } from './follow.ts'
import {
  countMissing,
  countMissingOrganizations,
  describeMissing,
  extraEvents,
  findMissing,
  isSplit,
  type Missing,
  madeEvents,
  refusal,
} from './missing.ts'
import { eventTables, shadowSchema } from './shadow.ts'
import { ofShards, requireAllPartitions, type SwitchDeps, storeReached, whileInSync } from './whileInSync.ts'

const switchTries = 5

/**
 * Switches the shards one by one, then the organizations; returns the number of events. Events that have records in
 * several shards, because partitions were added, are switched as a whole: then all shards are switched at once. Throws
 * before anything is switched if records would be removed and may not be.
 */
export async function switchAll(deps: SwitchDeps): Promise<number> {
  const shards = await readShards(deps.locked, deps.topics.events)
  await requireAll(deps, shards)
  let events = 0
  for (const shard of shards) {
    const isLast = await withTries(async () => {
      const isTogether = shards.length === 1 || (await isSplit(deps.locked, shard))
      const count = await switchShards(deps, isTogether ? shards : [shard], { isTogether })
      events = isTogether ? count : events + count
      return isTogether
    })
    if (isLast) break
  }
  await withTries(() => switchOrganizations(deps, shards))
  return events
}

async function requireAll(deps: SwitchDeps, shards: number[]): Promise<void> {
  const missing = await withTries(() => findMissing(deps, shards))
  if (!deps.mayRemove) refuseMissing(deps, missing)
  else if (missing.length > 0) deps.onRemoving(describeMissing(missing, deps.topics))
}

function refuseMissing({ topics }: SwitchDeps, missing: Missing[]): void {
  if (missing.length > 0) throw new Error(refusal(missing, topics))
}

/** A switch that had to wait too long, or met the projector in a circle of locks, is rolled back and tried again. */
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

async function readShards(db: Postgres, eventsTopic: string): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
select partition as shard from shard_offsets where topic = ${eventsTopic} order by 1`.execute(db)
  return rows.map(({ shard }) => shard)
}

/**
 * Switches one shard or all (`isTogether`) to what was read from the topics, in one transaction: from locking the
 * stored offsets, at which the live projector waits, over applying the last records up to exactly these offsets, to the
 * commit. Readers see each event's old or new rows. Then everything is published whole. After a crash before the commit
 * nothing has happened; after it the projector sees that Redis lacks these revisions and publishes them.
 */
export async function switchShards(
  deps: SwitchDeps,
  shards: number[],
  { isTogether }: { isTogether: boolean },
): Promise<number> {
  const synced = ofShards(deps, shards)
  const { ids, extra } = await whileInSync(deps, synced, async (tx, reached) => {
    const made = await madeEvents(tx, shards)
    const extra = await extraEvents(tx, shards)
    await lockEvents(tx, new Map([...made, ...extra.map(id => [id, 0] as const)]))
    if (isTogether) await requireAllPartitions(tx, synced)
    // Once more: a record of another shard may have been an event's first one there.
    else if (await isSplit(tx, shards[0] as number))
      throw notYet('an event has records in a shard that is not switched with this one')
    // Once more: a topic may have been created again since `findMissing`.
    if (!deps.mayRemove) refuseMissing(deps, await countMissing(tx, shards))
    await removeRows(tx, extra)
    for (const table of eventTables) await copyRows(tx, table, [...made.keys()])

    const revision = await nextRevision(tx)
    await stampMade(tx, [...made.keys()], revision)
    for (const shard of shards)
      await noteRevision(tx, { topic: deps.topics.events, partition: shard, revision })
    await storeReached(tx, synced, reached)
    return { ids: [...made.keys()], extra }
  })
  await publishWhole(deps, ids)
  for (const id of extra) await deps.redis.del(deps.keys.event(id))
  return ids.length
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

/**
 * Switches the organizations, when the events of all `shards` are switched: their records as in the topic, and a new
 * revision of every list of events. Their events are read up to there as well, so that the shadow knows all that events
 * name; one that neither the topic nor an event names is removed.
 */
export async function switchOrganizations(deps: SwitchDeps, shards: number[]): Promise<void> {
  const topic = deps.topics.organizations
  const synced = { topics: [topic, deps.topics.events], partitions: [...new Set([0, ...shards])] }
  const stamped = await whileInSync(deps, synced, async (tx, reached) => {
    await requireAllPartitions(tx, synced)
    if (!deps.mayRemove) refuseMissing(deps, await countMissingOrganizations(tx))
    const ids = await readIds(tx)
    await lockOrganizations(tx, ids)
    await copyRows(tx, 'organizations', ids)
    const revision = await nextRevision(tx)
    await stampOrganizations(tx, ids, revision)
    await noteRevision(tx, { topic, partition: 0, revision })
    await storeReached(tx, synced, reached)
    return ids.map(id => ({ id, revision }))
  })
  await publishOrganizationsWhole(deps, stamped)
}

async function readIds(tx: Tx): Promise<OrganizationId[]> {
  const { rows } = await sql<{ id: OrganizationId }>`
select organization_id as id from organizations
union select organization_id from ${sql.id(shadowSchema, 'organizations')}
order by id`.execute(tx)
  return rows.map(({ id }) => id)
}

/**
 * Makes the live rows of some events or organizations (`ids`) those of the shadow. Only rows that differ are written:
 * nearly all are right already, and the shard's projector waits meanwhile. The shadow's columns are those of the live
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
