import type { TopicNames } from '@tally/kafka'
import { inSnapshot, type Tx } from '@tally/platform'
import { sql } from 'kysely'
import { shadowSchema } from './shadow.ts'
import { extraEvents, madeEvents } from './shardEvents.ts'
import { ofShards, type SwitchDeps, whileInSync } from './whileInSync.ts'

/** How many orders and refunds of some partitions Postgres has in a version that the topics no longer hold. */
export type Missing = { partitions: number[]; orders: number; refunds: number }

export const isMissing = ({ orders, refunds }: Missing): boolean => orders + refunds > 0

/**
 * Counts what the topics lack while both sides are at the same offsets, shard by shard; returns those that lack some.
 * All shards are brought to them at once, because an event may have records in several. Their projectors wait only
 * until a snapshot is taken, not while it is counted.
 */
export function findMissing(deps: SwitchDeps, shards: number[]): Promise<Missing[]> {
  return inSnapshot(deps.db, async snapshot => {
    // It idles while the last records are read.
    await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(snapshot)
    // The first query takes the snapshot.
    await whileInSync(deps, ofShards(deps, shards), () => sql`select 1`.execute(snapshot))
    const missing: Missing[] = []
    for (const shard of shards) missing.push(await countMissing(snapshot, [shard]))
    return missing.filter(isMissing)
  })
}

/** Counts the live orders and refunds of these shards that the shadow does not have, or only in a lower version. */
export async function countMissing(tx: Tx, shards: number[]): Promise<Missing> {
  const eventIds = [...(await madeEvents(tx, shards)).keys(), ...(await extraEvents(tx, shards))]
  const { rows } = await sql<{ orders: number; refunds: number }>`
select
  (
    select count(*)::int
    from orders as kept
    where event_id = any(${eventIds}::uuid[]) and version > 0 and not exists (
      select from ${sql.id(shadowSchema, 'orders')} as made
      where made.event_id = kept.event_id and made.order_id = kept.order_id and made.version >= kept.version
    )
  ) as orders,
  (
    select count(*)::int
    from refunds as kept
    where event_id = any(${eventIds}::uuid[]) and not exists (
      select from ${sql.id(shadowSchema, 'refunds')} as made
      where made.event_id = kept.event_id and made.refund_id = kept.refund_id and made.version >= kept.version
    )
  ) as refunds`.execute(tx)
  return { partitions: shards, ...(rows[0] as { orders: number; refunds: number }) }
}

/** Names what is missing: `50 orders (tally.orders, partition 1), 1 refund (tally.refunds, partition 1)`. */
export function describeMissing(missing: Missing[], topics: TopicNames): string {
  return missing
    .flatMap(({ partitions, orders, refunds }) => [
      part(orders, 'order', topics.orders, partitions),
      part(refunds, 'refund', topics.refunds, partitions),
    ])
    .filter(text => text !== undefined)
    .join(', ')
}

function part(count: number, what: string, topic: string, partitions: number[]): string | undefined {
  if (count === 0) return undefined
  const where = `partition${partitions.length === 1 ? '' : 's'} ${partitions.join(' and ')}`
  return `${count} ${what}${count === 1 ? '' : 's'} (${topic}, ${where})`
}

/** The sentence with which a rebuild refuses to remove them. */
export function refusal(missing: Missing[], topics: TopicNames): string {
  return (
    `the topics no longer hold ${describeMissing(missing, topics)} that Postgres has, or their latest version: their records were deleted or ` +
    'compacted, or a topic was created again. Nothing of these partitions was changed. To keep them, run ' +
    '`tally rebuild` without --from-kafka; to remove them, run `tally rebuild --from-kafka --yes`.'
  )
}
