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
import { readOffsets, type StoredOffset } from '@tally/offsets'
import { isTransient, openInterval, type Postgres, TransientError } from '@tally/platform'
import { type EventLimits, EventRoom, projectPieces } from '@tally/projection'
import {
  belowEnds,
  ensurePartitions,
  noteLogs,
  readLiveOffsets,
  readStarts,
  type ShadowDeps,
  storeSkipped,
} from './shadow.ts'

export type Follower = {
  /** How many records the shadow must still read to be where the live tables are. */
  behind(): number
  /** How many it has read, and how many there are to read in all. */
  position(): { done: number; all: number }
  /**
   * Reads partitions exactly up to their live offsets, by key, or to the end of a log that ends earlier because its
   * topic was created again. Returns the offsets that are reached.
   */
  reach(live: Map<string, number>): Promise<Map<string, number>>
  /** Lets the targets that `reach` has set follow the live tables again. */
  release(): void
  /** Rejects with an error that trying again does not resolve. */
  failed: Promise<never>
  stop(): Promise<void>
}

const refreshMs = 300
/** How long a batch at its target waits before it is read again; short, because other partitions wait for it. */
const pollIntervalMs = 100
/** How long reading the last records may take while the live projector waits. */
const tailMs = 20_000
const noDeadLetters = { send: async () => {}, committed: () => {} }

/**
 * Reads all topics from the start, or from where an interrupted run stopped, and applies them to the shadow with the
 * projector's own code. The shadow never passes the live tables, so that the two can meet at one offset
 * (createPositions). Dead letters are not sent: the live projector has sent or will send them. Superseded
 * versions can fill an event here that is not full in the live tables: what these have is admitted beyond `limits`.
 */
export async function follow(
  deps: ShadowDeps,
  of: { topicPrefix: string; groupId: string; limits?: EventLimits | undefined },
): Promise<Follower> {
  const { kafka, db, shadow } = deps
  const { topicPrefix, groupId, limits } = of
  const types = recordTopics(topicNames(topicPrefix))
  const topics = [...types.keys()]
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  const failIfFatal = (error: unknown) => isTransient(error) || failure.reject(error)

  const partitions = await ensurePartitions(deps, topics)
  await noteLogs(deps, topics)
  const positions = createPositions(partitions, await readOffsets(shadow, topics))
  const refresh = async () => positions.follow(await readLiveOffsets(deps, topics))
  await refresh()

  const room = new EventRoom(limits, undefined, db)
  const consumer = await consumeBatches(kafka, {
    groupId,
    topics,
    onBatch: batch =>
      applyBatch({ shadow, room }, positions, types.get(batch.topic) as RecordType, batch).catch(error => {
        failIfFatal(error)
        throw error
      }),
    onAssigned: assignment => readStarts(shadow, assignment),
    onOutOfLog: ({ topic, partition, wanted }) =>
      failure.reject(
        new Error(
          `${topic}-${partition} does not hold offset ${wanted}, which is to be read next: records were deleted before they ` +
            'were read (retention?), or the topic was created again. See `tally offsets`.',
        ),
      ),
    onCrash: failure.reject,
  })

  const refreshes = openInterval(
    refreshMs,
    () => refresh().then(() => passSkipped(shadow, positions, consumer)),
    failIfFatal,
  )

  return {
    behind: positions.behind,
    position: positions.position,
    async reach(live) {
      const wanted = await belowEnds(kafka, topics, live)
      positions.hold(wanted)
      const end = performance.now() + tailMs
      while ([...wanted.keys()].some(key => positions.left(key) > 0)) {
        if (performance.now() > end) throw new TransientError('Kafka did not bring the last records in time')
        await Promise.race([sleep(10), failure.promise])
      }
      return wanted
    },
    release: positions.release,
    failed: failure.promise,
    async stop() {
      await Promise.all([refreshes.stop(), consumer.stop()])
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
  const target = positions.target(key)
  if (batch.from >= target) {
    await sleep(pollIntervalMs)
    return batch.from
  }
  const deps = { db: shadow, deadLetters: noDeadLetters, room }
  const next = await projectPieces(deps, type, cutAt(target, batch), () => {})
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

/**
 * How far the shadow has read each partition, and how far it must. The target of a partition follows the offset of the
 * live tables (`follow`), except while it is held for a switch (`hold`): then the live projector waits at exactly this
 * offset.
 */
type Positions = ReturnType<typeof createPositions>

/** `partitions`: the keys of all; `stored`: what the shadow has applied. */
function createPositions(partitions: string[], stored: StoredOffset[]) {
  const targets = new Map<string, number>()
  const applied = new Map(stored.map(offset => [partitionKey(offset), offset.nextOffset]))
  let isHeld = false

  const target = (key: string) => targets.get(key) ?? 0
  /** Nothing of a partition that was added meanwhile. */
  const left = (key: string) => Math.max(0, target(key) - (applied.get(key) ?? Number.POSITIVE_INFINITY))
  const behind = () => partitions.reduce((sum, key) => sum + left(key), 0)

  return {
    target,
    left,
    behind,
    position() {
      const done = partitions.reduce((sum, key) => sum + (applied.get(key) ?? 0), 0)
      return { done, all: done + behind() }
    },
    applied(key: string, next: number): void {
      applied.set(key, next)
    },
    follow(live: Map<string, number>): void {
      if (!isHeld) for (const [key, offset] of live) targets.set(key, offset)
    },
    hold(wanted: Map<string, number>): void {
      isHeld = true
      for (const [key, offset] of wanted) targets.set(key, offset)
    },
    release: () => {
      isHeld = false
    },
  }
}
