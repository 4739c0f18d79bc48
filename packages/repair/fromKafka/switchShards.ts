import type { EventId } from '@tally/contract'
import { lockEvents } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { sql } from 'kysely'
import { publishWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/revisions.ts'
import { copyRows, removeRows } from './copyRows.ts'
import { notYet } from './follow.ts'
import { countMissing, isMissing, refusal } from './missing.ts'
import { eventTables, shadowSchema } from './shadow.ts'
import { extraEvents, isSplit, madeEvents } from './shardEvents.ts'
import { ofShards, requireAllPartitions, type SwitchDeps, storeReached, whileInSync } from './whileInSync.ts'

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
    const missing = deps.mayRemove ? undefined : await countMissing(tx, shards)
    if (missing !== undefined && isMissing(missing)) throw new Error(refusal([missing], deps.topics))
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
