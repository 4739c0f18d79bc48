import type { EventId } from '@tally/contract'
import { partitionKey } from '@tally/kafka'
import { lockEvents, nextRevision, stampEvents } from '@tally/read-models'
import type { Postgres, Tx } from '@tally/storage'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import { publishWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/revisions.ts'
import { copyRows, eventTables, removeRows } from './copyRows.ts'
import type { Follower } from './follow.ts'
import { lockOffsets, storeReached, tailMs } from './meet.ts'
import { NotYetError } from './notYet.ts'
import { shadowSchema } from './shadow.ts'
import { readSharedShards } from './shardGroups.ts'

/** `topics`: those of events, orders and refunds. */
export type SwitchDeps = RepairDeps & {
  locked: Postgres
  live: string
  follower: Follower
  topics: string[]
  eventsTopic: string
  mayRemove: boolean
}

/**
 * Switches some shards to what was read from the topics, in one transaction: from locking their stored offsets,
 * at which the live projector waits, over applying the last records up to exactly these offsets, to the commit.
 * Readers see each event's old or new rows. Then everything is published whole. After a crash before the commit
 * nothing has happened; after it the projector sees that Redis lacks these revisions and publishes them.
 */
export async function switchShards(deps: SwitchDeps, shards: number[]): Promise<number> {
  const { locked, live, follower } = deps
  try {
    const switched = await locked.transaction().execute(async tx => {
      // The gap between two statements may last as long as reading the last records takes.
      await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(tx)
      const reached = await lockOffsets(tx, deps, shards)
      await follower.reach(reached, tailMs)
      await checkShared(tx, shards)
      const made = await madeEvents(tx, live, shards)
      const ids = [...made.keys()]
      const surplus = await surplusEvents(tx, live, shards)
      if (!deps.mayRemove) await requireAll(tx, live, shards, [...ids, ...surplus])
      for (const [shard, ofShard] of Map.groupBy(ids, id => made.get(id) as number))
        await lockEvents(tx, new Map(ofShard.map(id => [id, shard])))
      await scatterHeads(tx, live, ids)
      if (surplus.length > 0) await lockEvents(tx, new Map(surplus.map(id => [id, 0])))
      await removeRows(tx, live, surplus)
      for (const [table, key] of eventTables) await copyRows(tx, { live, table, key, eventIds: ids })

      const revision = await nextRevision(tx)
      for (const [shard, ofShard] of Map.groupBy(ids, id => made.get(id) as number)) {
        await stampEvents(tx, ofShard, shard, revision)
      }
      for (const shard of shards) {
        await noteRevision(tx, { topic: deps.eventsTopic, partition: shard, revision })
        await sql`insert into ${sql.id(shadowSchema, 'switched')} values (${shard})`.execute(tx)
      }
      await storeReached(tx, deps, { partitions: shards, reached })
      return { ids, surplus }
    })
    follower.forget(
      shards.flatMap(shard => deps.topics.map(topic => partitionKey({ topic, partition: shard }))),
    )
    await publishWhole(deps, switched.ids)
    for (const id of switched.surplus) await deps.redis.del(deps.keys.event(id))
    return switched.ids.length
  } finally {
    follower.release()
  }
}

/** The last records may be the first that an event has in another shard: then both must be switched together. */
async function checkShared(tx: Tx, shards: number[]): Promise<void> {
  const isSplit = (await readSharedShards(tx)).some(
    ([one, other]) => shards.includes(one) !== shards.includes(other),
  )
  if (isSplit) throw new NotYetError('an event has records in a shard that is not switched with the others')
}

/**
 * Throws if Postgres has orders or refunds of these events that the topics do not hold: records were deleted or
 * compacted, or a topic was created again.
 */
async function requireAll(tx: Tx, live: string, shards: number[], eventIds: EventId[]): Promise<void> {
  const lacking = (table: string, key: string, isReal = sql`true`) => sql<number>`(
select count(*)::int
from ${sql.id(live, table)} as kept
where event_id = any(${eventIds}::uuid[]) and ${isReal} and not exists (
  select from ${sql.id(shadowSchema, table)} as made
  where made.event_id = kept.event_id and made.${sql.id(key)} = kept.${sql.id(key)}
))`
  const { rows } = await sql<{ orders: number; refunds: number }>`
select ${lacking('orders', 'order_id', sql`version > 0`)} as orders, ${lacking('refunds', 'refund_id')} as refunds`.execute(
    tx,
  )
  const { orders, refunds } = rows[0] as { orders: number; refunds: number }
  if (orders + refunds === 0) return
  throw new Error(
    `the topics no longer hold ${orders} orders and ${refunds} refunds that Postgres has (shards ${shards.join(', ')}): ` +
      'their records were deleted or compacted, or a topic was created again. Nothing of these shards was changed. ' +
      'Run `tally rebuild` without --from-kafka, which keeps them, or with --from-kafka --yes to remove them.',
  )
}

/** The events of these shards that are in the topics, with their shard, without those that were removed. */
async function madeEvents(tx: Tx, live: string, shards: number[]): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; shard: number }>`
select event_id, shard
from ${sql.id(shadowSchema, 'event_heads')} as made
where shard = any(${shards}::int[])
  and not exists (select from ${sql.id(live, 'removed_events')} as removed where removed.event_id = made.event_id)
order by event_id`.execute(tx)
  return new Map(rows.map(({ event_id, shard }) => [event_id, shard]))
}

/**
 * Marks the live events whose records the shadow found in several shards. A head that was lost and is inserted again
 * starts unmarked, and `asOf` of its event would cover its first shard only.
 */
async function scatterHeads(tx: Tx, live: string, eventIds: EventId[]): Promise<void> {
  await sql`
update ${sql.id(live, 'event_heads')} as kept
set is_scattered = true
from ${sql.id(shadowSchema, 'event_heads')} as made
where kept.event_id = any(${eventIds}::uuid[])
  and made.event_id = kept.event_id
  and made.is_scattered
  and not kept.is_scattered`.execute(tx)
}

/** The live events of these shards that are not in the topics; a removed one stays marked as that. */
async function surplusEvents(tx: Tx, live: string, shards: number[]): Promise<EventId[]> {
  const { rows } = await sql<{ event_id: EventId }>`
select event_id from ${sql.id(live, 'event_heads')} as kept
where shard = any(${shards}::int[]) and not is_removed
  and not exists (select from ${sql.id(shadowSchema, 'event_heads')} as made where made.event_id = kept.event_id)
order by event_id`.execute(tx)
  return rows.map(({ event_id }) => event_id)
}
