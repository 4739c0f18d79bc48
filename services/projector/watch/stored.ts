import { partitionKey, type TopicPartition } from '@tally/kafka'
import { ensureOffsets, openEpoch, readStored, type StoredOffset } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import type { Attempt } from './attempts.ts'
import type { WatchDeps } from './deps.ts'

/** What Postgres has stored at `nowMs` of its clock. */
export type Stored = {
  nowMs: number
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
  return { nowMs, epoch, all, assigned: assigned.flatMap(of => all.get(partitionKey(of)) ?? []) }
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
  { asOf, seen, logs, seek, metrics, logger }: WatchDeps,
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
    asOf.lost({ topic, partition }, nextOffset)
    seek({ topic, partition }, nextOffset)
  }
}
