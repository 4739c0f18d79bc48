import { readAsOfByShard } from '@tally/offsets'
import type { Postgres, RedisClient } from '@tally/platform'
import { type RedisKeys, readShardHash } from '@tally/publication'

const pollMs = 500
/** Redis follows Postgres within milliseconds; a projector that is behind may hold documents back for longer. */
const behindMs = 2_000
/** If no poll was answered for this long, Postgres may hang or be down: Redis has to answer, however slow. */
const quietMs = 1_200
/** If no poll was answered for this long, Postgres hangs or is down. */
const silentMs = 3_000

export type Watermarks = {
  /**
   * Whether a shard's watermark in Redis is stale, and its documents with it: behind the one in Postgres, or later than
   * the database's clock.
   */
  isStale(shard: number, asOfMs: number): boolean
  /** Whether a watermark is later than the database's clock, which has gone back; false before the first poll. */
  isFuture(asOfMs: number): boolean
  /** The age of each shard's watermark by the database's clock, in milliseconds; it grows while no poll is answered. */
  ages(): Map<number, number>
  /** The time by the database's clock in epoch milliseconds; by the host's before the first poll. */
  now(): number
  /** Whether Postgres has answered a recent poll; true before the first. */
  isPostgresUp(): boolean
  close(): void
}

/**
 * Reads the watermarks of all shards from Postgres twice a second. A Redis that gets no writes from the projector (it
 * is full, or cut off) still answers reads: only this comparison shows that its documents are old.
 */
export function watchWatermarks({
  db,
  topics,
  onSilent,
  onFailure,
}: {
  db: Postgres
  topics: string[]
  /** Called again and again while Postgres answers no poll. */
  onSilent: () => void
  onFailure: (error: unknown) => void
}): Watermarks {
  const nothing = { nowMs: Number.POSITIVE_INFINITY, byShard: new Map<number, number>() }
  let known = { ...nothing, askedMs: 0, answeredMs: performance.now() }
  let isRunning = false
  const isSilent = (ms: number) => performance.now() - known.answeredMs >= ms
  const poll = async () => {
    if (isSilent(quietMs)) onSilent()
    if (isRunning) return
    isRunning = true
    const askedMs = performance.now()
    try {
      known = { ...(await readAsOfByShard(db, topics)), askedMs, answeredMs: performance.now() }
    } catch (error) {
      onFailure(error)
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(poll, pollMs)
  void poll()
  /** The database's clock; later by as long as the last poll took, so that no watermark looks later by mistake. */
  const nowMs = () => known.nowMs + performance.now() - known.askedMs
  const isFuture = (asOfMs: number) => asOfMs > known.nowMs && asOfMs > nowMs()
  return {
    isStale: (shard, asOfMs) => asOfMs + behindMs < (known.byShard.get(shard) ?? 0) || isFuture(asOfMs),
    isFuture,
    ages: () => new Map([...known.byShard].map(([shard, asOfMs]) => [shard, nowMs() - asOfMs])),
    now: () => (Number.isFinite(known.nowMs) ? nowMs() : Date.now()),
    isPostgresUp: () => !isSilent(silentMs),
    close: () => clearInterval(timer),
  }
}

const holdsMs = 500

/**
 * Returns the function that tells whether Redis is behind Postgres in any shard: a list of events has no watermark of
 * its own, and its events may be in all shards. What it found holds for half a second. Rejects if Redis fails.
 */
export function createStaleness({
  redis,
  keys,
  topics,
  watermarks,
}: {
  redis: RedisClient
  keys: RedisKeys
  topics: string[]
  watermarks: Pick<Watermarks, 'ages' | 'isStale'>
}): () => Promise<boolean> {
  let found: Promise<boolean> | undefined
  const isShardStale = async (shard: number): Promise<boolean> => {
    const { asOfMs } = await readShardHash({ redis, keys }, topics, shard, [])
    return asOfMs === null || watermarks.isStale(shard, asOfMs)
  }
  const look = async () => {
    const shards = [...watermarks.ages().keys()]
    return (await Promise.all(shards.map(isShardStale))).includes(true)
  }
  const forget = () => {
    found = undefined
  }
  return () => {
    if (found === undefined) {
      found = look()
      found.then(() => setTimeout(forget, holdsMs).unref(), forget)
    }
    return found
  }
}
