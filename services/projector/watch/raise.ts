import { partitionKey, type TopicPartition } from '@tally/kafka'
import { openEpoch, type StoredOffset } from '@tally/offsets'
import {
  asOfField,
  type PartitionAsOf,
  publishedField,
  type RaisedAsOf,
  raiseAsOf,
  raisePublished,
} from '@tally/publication'
import type { Attempt } from './attempts.ts'
import type { WatchDeps } from './deps.ts'
import type { Stored } from './stored.ts'

/** Raises the watermarks whose ends are reached. If Postgres does not answer, the result has none. */
export async function raiseInPostgres(
  { db, topics, asOf, metrics }: WatchDeps,
  attempt: Attempt,
  { nowMs, epoch }: Stored,
): Promise<RaisedAsOf> {
  const reached = asOf.reached()
  let raised: RaisedAsOf = { nowMs, epoch, raised: [] }
  await attempt('raise asOf', async () => {
    raised = await raiseAsOf(db, topics, reached)
  })
  for (const { atMs, ...of } of reached) metrics.freshness.set(of, (raised.nowMs - atMs) / 1000)
  return raised
}

/** Raises in Redis the watermarks of partitions of which nothing is held back from publication. */
export async function raiseInRedis(deps: WatchDeps, stored: Stored, raised: RaisedAsOf): Promise<void> {
  const { publisher } = deps
  const settled = stored.assigned.filter(of => !isHeldBack(deps, of))
  const whole = raised.raised.filter(of => !publisher.holdsBack(of, Number.POSITIVE_INFINITY))
  const watermarks = await publishable(deps, stored, [...settled, ...whole])
  // What was read before Postgres came back does not hold for what it has now.
  const { nowMs, epoch } = raised
  if (epoch !== null && epoch === stored.epoch)
    await surpass(deps, await storeInRedis(deps, watermarks, { nowMs, epoch }))
}

/** Whether partitions were added: then watermarks depend on all partitions. */
export const hasAdded = (all: Stored['all']): boolean => [...all.values()].some(({ isAdded }) => isAdded)

/** Whether anything that the partition has committed is held back from publication. */
export const isHeldBack = ({ publisher }: Pick<WatchDeps, 'publisher'>, of: StoredOffset): boolean =>
  publisher.holdsBack(of, of.revision)

type Watermark = TopicPartition & { asOfMs: number | null; revision: number }

/**
 * The watermarks that may be raised in Redis for the assigned partitions: everything that they claim is published. If
 * partitions were added, they also depend on what other projectors have published.
 */
async function publishable(
  { db, topics }: WatchDeps,
  { all, assigned }: Stored,
  published: PartitionAsOf[],
): Promise<Watermark[]> {
  if (!hasAdded(all)) return published
  const asOfMs = await raisePublished(db, topics, published)
  const latest = new Map([...assigned, ...published].map(of => [partitionKey(of), of.revision]))
  return assigned.map(of => ({ ...of, asOfMs, revision: latest.get(partitionKey(of)) ?? of.revision }))
}

/**
 * Raises watermarks in Redis, each with the partition's revision that Postgres returned with it. Returns the shards
 * whose hash is in another epoch, with that epoch; for these it raises nothing.
 */
async function storeInRedis(
  { redis, keys }: WatchDeps,
  watermarks: Watermark[],
  { nowMs, epoch }: { nowMs: number; epoch: number },
): Promise<Map<number, number>> {
  const others = new Map<number, number>()
  const byShard = Map.groupBy(watermarks, ({ partition }) => partition)
  await Promise.all(
    [...byShard].map(async ([shard, ofShard]) => {
      const fields = ofShard.flatMap(({ topic, asOfMs, revision }) =>
        asOfMs === null ? [] : [asOfField(topic), asOfMs, publishedField(topic), revision],
      )
      const found = await redis.raiseAsOf(keys.shard(shard), epoch, nowMs, ...fields)
      if (found !== epoch) others.set(shard, found)
    }),
  )
  return others
}

/** If Redis is in a later epoch than Postgres (its clock was ahead), opens one above that. */
async function surpass({ db, seen }: WatchDeps, found: Map<number, number>): Promise<void> {
  if (found.size === 0) return
  seen.epoch = Math.max(seen.epoch, ...found.values())
  await openEpoch(db, seen)
}
