import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordType } from '@tally/contract'
import {
  type Consumer,
  consumeBatches,
  cutAt,
  partitionKey,
  type RecordBatch,
  recordTopics,
  topicNames,
  UndecodableBatchError,
} from '@tally/kafka'
import { EventRoom, projectPieces } from '@tally/projection'
import { readOffsets } from '@tally/read-models'
import { isTransient } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { NotYetError } from './notYet.ts'
import { openPositions, type Positions } from './positions.ts'
import {
  ensurePartitions,
  noteLogs,
  readEnds,
  readLiveOffsets,
  readStarts,
  type ShadowDeps,
  storeSkipped,
} from './shadowOffsets.ts'
import { noteShards } from './shardGroups.ts'

export type Follower = {
  /** How many records the shadow must still read to be where the live tables are. */
  behind(): number
  /** How many it has read, and how many there are to read in all. */
  position(): { done: number; all: number }
  /** Sets the offsets up to which these partitions must be read, and not further; then waits until they are. */
  reach(targets: Map<string, number>, timeoutMs: number): Promise<void>
  /** Lets the targets that `reach` has set follow the live tables again. */
  release(): void
  /** Marks partitions as switched: what still arrives is read by the live projector only. */
  forget(partitions: string[]): void
  /** Where Kafka's log of each partition ends now, by partition key. */
  ends(): Promise<Map<string, number>>
  /** Rejects with an error that trying again does not resolve. */
  failed: Promise<never>
  stop(): Promise<void>
}

const refreshMs = 300
/** How long a batch at its target waits before it is read again; short, because other partitions wait for it. */
const restMs = 100
const noDeadLetters = { send: async () => {}, committed: () => {} }

/**
 * Reads all topics from the start, or from where an interrupted run stopped, and applies them to the shadow with the
 * projector's own code. The shadow never passes the live tables, so that the two can meet at one offset
 * (positions.ts). Dead letters are not sent: the live projector has sent or will send them.
 */
export async function follow(
  deps: ShadowDeps,
  { topicPrefix, groupId, skip }: { topicPrefix: string; groupId: string; skip: string[] },
): Promise<Follower> {
  const { kafka, shadow } = deps
  const types = recordTopics(topicNames(topicPrefix))
  const topics = [...types.keys()]
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  const failIfFatal = (error: unknown) => isTransient(error) || failure.reject(error)

  const partitions = await ensurePartitions(deps, topics)
  await noteLogs(deps, topics)
  const positions = openPositions(partitions, await readOffsets(shadow, topics), skip)
  const refresh = async () => positions.follow(await readLiveOffsets(deps, topics))
  await refresh()

  const room = new EventRoom()
  const consumer = await consumeBatches(kafka, {
    groupId,
    topics,
    concurrency: 4,
    onBatch: batch =>
      applyBatch({ shadow, room }, positions, types.get(batch.topic) as RecordType, batch).catch(error => {
        failIfFatal(error)
        throw error
      }),
    onAssigned: assignment => readStarts(shadow, assignment),
    onCrash: failure.reject,
  })

  let stopped = false
  const refreshing = (async () => {
    while (!stopped) {
      await sleep(refreshMs)
      if (stopped) return
      await refresh()
        .then(() => passSkipped(shadow, positions, consumer))
        .catch(failIfFatal)
    }
  })()

  return {
    behind: positions.behind,
    position: positions.position,
    async reach(wanted, timeoutMs) {
      positions.hold(wanted)
      for (
        const end = performance.now() + timeoutMs;
        [...wanted.keys()].some(key => positions.left(key) > 0);
      ) {
        if (performance.now() > end) throw new NotYetError('Kafka did not bring the last records in time')
        await Promise.race([sleep(10), failure.promise])
      }
    },
    release: positions.release,
    forget: positions.forget,
    ends: () => readEnds(kafka, topics),
    failed: failure.promise,
    async stop() {
      stopped = true
      await consumer.stop()
      await refreshing
    },
  }
}

/** Applies a batch to the shadow up to the partition's target, and returns the offset to read next. */
async function applyBatch(
  { shadow, room }: { shadow: Postgres; room: EventRoom },
  positions: Positions,
  type: RecordType,
  batch: RecordBatch,
): Promise<number> {
  const key = partitionKey(batch)
  if (positions.isForgotten(key)) return batch.next
  const target = positions.target(key)
  if (batch.from >= target) {
    await sleep(restMs)
    return batch.from
  }
  await noteShards(shadow, batch)
  const next = await projectPieces(
    { db: shadow, deadLetters: noDeadLetters, room },
    type,
    cutAt(target, batch),
    () => {},
  )
  positions.applied(key, next)
  return next
}

/** A batch that cannot be decoded stays in its topic: if the live tables have skipped it, the shadow skips it too. */
async function passSkipped(shadow: Postgres, positions: Positions, consumer: Consumer): Promise<void> {
  for (const { topic, partition, error } of consumer.state().batchErrors) {
    const key = partitionKey({ topic, partition })
    if (!(error instanceof UndecodableBatchError) || positions.target(key) < error.to) continue
    await storeSkipped(shadow, { topic, partition }, error.to)
    positions.applied(key, error.to)
    consumer.seek(topic, partition, error.to)
  }
}
