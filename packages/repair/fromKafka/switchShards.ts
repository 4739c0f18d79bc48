import type { EventId } from '@tally/contract'
import { partitionKey } from '@tally/kafka'
import { lockEvents, nextRevision, stampEvents } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { publishWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/revisions.ts'
import { copyRows, eventTables, removeRows } from './copyRows.ts'
import { countLacking, isLacking, refusal } from './lacking.ts'
import { lockOffsets, storeReached, tailMs } from './meet.ts'
import { NotYetError } from './notYet.ts'
import { shadowSchema } from './shadow.ts'
import { madeEvents, surplusEvents } from './shardEvents.ts'
import { readSharedShards } from './shardGroups.ts'
import type { SwitchDeps } from './switchDeps.ts'

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
      // Once more: a topic may have been created again since `findLacking`.
      const lack = deps.mayRemove ? undefined : await countLacking(tx, live, shards)
      if (lack !== undefined && isLacking(lack)) throw new Error(refusal([lack], deps))
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
