import {
  type Consumer,
  describeTopics,
  type KafkaConnection,
  logEnds,
  partitionKey,
  partitionsOf,
  type TopicPartition,
} from '@tally/kafka'
import { ensureOffsets, openEpoch, readStored, type SeenEpoch, type StoredOffset } from '@tally/offsets'
import type { Logger, Postgres } from '@tally/platform'
import {
  asOfField,
  type PartitionAsOf,
  publishedField,
  type RaisedAsOf,
  type ReadModel,
  raiseAsOf,
  raisePublished,
} from '@tally/publication'
import type { PartitionCheck } from '../consume.ts'
import type { Logs } from '../logs/logs.ts'
import type { ProjectorMetrics } from '../metrics.ts'
import type { Publisher } from '../publish/publisher.ts'
import type { Attempt, Refusals } from './attempts.ts'
import type { PartitionProgress } from './progress.ts'
import type { Sizes } from './sizes.ts'
import type { Walk } from './walk.ts'

/** What the steps of the watch work on; each step takes the part of it that it needs. */
export type WatchDeps = ReadModel & {
  kafka: KafkaConnection
  publisher: Publisher
  progress: PartitionProgress
  seen: SeenEpoch
  walk: Walk
  sizes: Pick<Sizes, 'step'>
  topics: string[]
  assigned: () => TopicPartition[]
  logs: Pick<Logs, 'isSound' | 'isHeld'>
  partitioner: Pick<PartitionCheck, 'learn'>
  consumer: () => Pick<Consumer, 'seek'>
  refusals: Pick<Refusals, 'during'>
  metrics: ProjectorMetrics
  logger: Logger
}

/** What Postgres has stored at `nowMs` of its clock; it was asked at `askedMs` of this process's. */
export type Stored = {
  nowMs: number
  askedMs: number
  epoch: number
  /** All partitions, by their keys. */
  all: ReadonlyMap<string, StoredOffset>
  assigned: StoredOffset[]
}

/**
 * Reads what Postgres has stored. Undefined if Postgres does not answer, or if its epoch or some rows had to be
 * restored first: the next tick reads again.
 */
export async function readOrRestore(
  { db, topics, seen }: Pick<WatchDeps, 'db' | 'topics' | 'seen'>,
  attempt: Attempt,
  assigned: TopicPartition[],
): Promise<Stored | undefined> {
  const all = new Map<string, StoredOffset>()
  let at = { nowMs: 0, epoch: null as number | null }
  const askedMs = performance.now()
  const isPostgresUp = await attempt('read', async () => {
    const { offsets, ...rest } = await readStored(db, topics)
    for (const row of offsets) all.set(partitionKey(row), row)
    at = rest
  })
  if (!isPostgresUp) return undefined

  const { nowMs, epoch } = at
  if (epoch === null) {
    // The connection was opened while the server was read-only.
    await attempt('open epoch', async () => void (await openEpoch(db, seen)))
    return undefined
  }
  seen.epoch = Math.max(seen.epoch, epoch)

  const missing = assigned.filter(of => !all.has(partitionKey(of)))
  if (missing.length > 0) {
    await attempt('insert rows', () => insertRows(db, missing))
    return undefined
  }
  return { nowMs, askedMs, epoch, all, assigned: assigned.flatMap(of => all.get(partitionKey(of)) ?? []) }
}

/** Inserts rows that a restored database lacks; the next tick then finds their applied records lost. */
async function insertRows(db: Postgres, missing: TopicPartition[]): Promise<void> {
  for (const [topic, ofTopic] of Map.groupBy(missing, ({ topic }) => topic)) {
    const numbers = ofTopic.map(({ partition }) => partition)
    await ensureOffsets(db, topic, numbers)
  }
}

/**
 * Finds offsets that were applied (`before`, by partition) but are no longer stored: Postgres came back without its
 * last commits. Reads those partitions again from the stored offset.
 */
export function findLost(
  { progress, seen, logs, consumer, metrics, logger }: WatchDeps,
  before: ReadonlyMap<string, number>,
  stored: StoredOffset[],
): void {
  for (const { topic, partition, nextOffset, revision } of stored) {
    seen.revision = Math.max(seen.revision, revision)
    const applied = before.get(partitionKey({ topic, partition }))
    if (applied === undefined || nextOffset >= applied || logs.isHeld({ topic, partition })) continue
    logger.warn(
      { topic, partition, applied, stored: nextOffset },
      'Postgres has lost commits of this partition; reading it again from the stored offset',
    )
    metrics.lostCommits.inc({ topic })
    progress.moved({ topic, partition }, nextOffset)
    consumer().seek(topic, partition, nextOffset)
  }
}

/**
 * Records the current ends of the assigned partitions for the time of `stored`. A partition that was added and that no
 * projector reads yet, so that it has no row, may hold records of any event: until then nothing is recorded, and `asOf`
 * stands still.
 */
export async function recordEnds(
  { kafka, progress, topics, logs, partitioner, metrics }: WatchDeps,
  assigned: TopicPartition[],
  stored: Stored,
): Promise<void> {
  const [counts, ends] = await Promise.all([describeTopics(kafka, topics), logEnds(kafka, assigned)])
  const isAllRead = partitionsOf(counts).every(of => stored.all.has(partitionKey(of)))
  const found = assigned.flatMap(({ topic, partition }) => {
    const log = ends.get(topic)?.get(partition)
    if (log === undefined || !logs.isSound({ topic, partition }, log)) return []
    return [{ topic, partition, end: log.end, atMs: stored.nowMs }]
  })
  if (isAllRead) progress.recordEnds(found, stored.epoch)
  for (const { topic, partition, end } of found) {
    const lag = Math.max(0, end - (progress.appliedOf({ topic, partition }) ?? 0))
    metrics.lag.set({ topic, partition }, lag)
  }
  partitioner.learn(counts)
}

/** Raises the watermarks whose ends are reached. If Postgres does not answer, the result has none. */
export async function raiseInPostgres(
  { db, topics, progress, metrics }: WatchDeps,
  attempt: Attempt,
  { nowMs, epoch }: Stored,
): Promise<RaisedAsOf> {
  const reached = progress.reached(epoch)
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
  // Other ticks or a new owner may have raised them further since: to them this clock has not gone back.
  const nowMs = raised.nowMs + Math.ceil(performance.now() - stored.askedMs)
  // What was read before Postgres came back does not hold for what it has now.
  const { epoch } = raised
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
      const fields = ofShard.flatMap(({ topic, asOfMs, revision }) => [
        asOfField(topic),
        asOfMs ?? -1,
        publishedField(topic),
        revision,
      ])
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
