import { skippedDeadLetter } from '@tally/dead-letters'
import {
  describeTopics,
  type JudgedLog,
  judgeLogs,
  type KafkaConnection,
  logEnds,
  type Producer,
  partitionKey,
  partitionsOf,
  recordTopics,
  TopicMissingError,
  type TopicPartition,
  topicNames,
} from '@tally/kafka'
import { lockOffset, moveOffset, readLogs, type StallState, type StoredLog } from '@tally/offsets'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'

/** One line of `tally offsets`: `applied` is the next offset to read; null if Kafka or Tally knows none. */
type ListedOffset = {
  topic: string
  partition: number
  applied: number | null
  logStart: number | null
  logEnd: number | null
  state: 'ok' | 'behind' | StallState
}

type OffsetsDeps = { kafka: KafkaConnection; db: Postgres; topicPrefix: string }

/**
 * All partitions that Kafka or Postgres knows, by topic and partition. `gap` and `recreated` are determined now;
 * `undecodable` is what a projector last stored, because detecting it requires the whole batch. Throws if neither knows
 * any.
 */
export async function listOffsets({ kafka, db, topicPrefix }: OffsetsDeps): Promise<ListedOffset[]> {
  const topics = [...recordTopics(topicNames(topicPrefix)).keys()]
  const [stored, counts] = await Promise.all([readLogs(db, topics), describeTopics(kafka, topics)])
  if (stored.length + counts.size === 0) throw new TopicMissingError(topics)
  const rows = new Map(stored.map(row => [partitionKey(row), row]))
  const there = partitionsOf(counts)
  const unread = there.filter(of => !rows.has(partitionKey(of)))
  const isThere = new Set(there.map(partitionKey))
  const [judged, logs] = await Promise.all([
    judgeLogs(
      kafka,
      stored.filter(row => isThere.has(partitionKey(row))),
    ),
    logEnds(kafka, unread),
  ])
  const found = new Map(judged.map(log => [partitionKey(log), log]))
  const listed = [
    ...stored.map(row => listedOf(row, found.get(partitionKey(row)))),
    ...unread.map(({ topic, partition }) => unreadOf({ topic, partition }, logs.get(topic)?.get(partition))),
  ]
  const order = (topic: string): number => topics.indexOf(topic)
  return listed.toSorted(
    (one, other) => order(one.topic) - order(other.topic) || one.partition - other.partition,
  )
}

function listedOf(
  { topic, partition, nextOffset, topicId, stall }: StoredLog,
  log: JudgedLog | undefined,
): ListedOffset {
  const [logStart, logEnd] = [log?.start ?? null, log?.end ?? null]
  const isUntouched = nextOffset === 0 && topicId === null
  if (isUntouched && log !== undefined) return unreadOf({ topic, partition }, log)
  const listed = { topic, partition, applied: nextOffset, logStart, logEnd }
  if (log === undefined) return { ...listed, state: stall?.state ?? 'behind' }
  if (log.state !== 'ok') return { ...listed, state: log.state }
  if (stall?.state === 'undecodable') return { ...listed, state: 'undecodable' }
  return { ...listed, state: nextOffset < log.end ? 'behind' : 'ok' }
}

/** A projector starts at the log's start. */
function unreadOf(
  of: { topic: string; partition: number },
  log: { start: number; end: number } | undefined,
): ListedOffset {
  if (log === undefined) return { ...of, applied: null, logStart: null, logEnd: null, state: 'behind' }
  const { start, end } = log
  return { ...of, applied: start, logStart: start, logEnd: end, state: start < end ? 'behind' : 'ok' }
}

/** Invalid arguments on the command line; the message is a sentence. */
class OffsetsUsageError extends Error {
  override readonly name = 'OffsetsUsageError'
}

/** A decision to continue at another offset: what is given up, and how it is recorded. */
type Move = TopicPartition & {
  from: number
  next: number
  topicId: string | undefined
  reason: 'gap' | 'recreated' | 'skipped'
  /** What is given up, as a sentence. */
  givesUp: string
}

/**
 * What `tally offsets accept` would do: continue at the start of the log that Kafka holds now. Throws OffsetsUsageError
 * if there is no such partition, and an error if the log fits what was applied.
 */
export async function planAccept(deps: OffsetsDeps, of: TopicPartition): Promise<Move> {
  const { stored, log } = await inspect(deps, of)
  const { nextOffset: from } = stored
  const { start: next, topicId } = log
  if (log.state === 'ok')
    throw new Error(`${nameOf(of)} holds offset ${from}, the next one to read: there is nothing to accept`)
  const givesUp =
    log.state === 'gap'
      ? `${log.missing === 1 ? '1 record is' : `${log.missing} records are`} given up: ${nameOf(of)}, ${offsets(from, next)}, deleted before they were applied`
      : `what ${nameOf(of)} held from offset ${from} on before it was created again or truncated is given up; it is read again from offset ${next}`
  return { ...of, from, next, topicId, reason: log.state, givesUp }
}

/**
 * What `tally offsets skip` would do: continue at `to`. Throws OffsetsUsageError if there is no such partition, or `to`
 * is not after the applied offset or is past the end of the log; and an error if the log does not fit what was applied.
 */
export async function planSkip(deps: OffsetsDeps, of: TopicPartition, to: number): Promise<Move> {
  const { stored, log } = await inspect(deps, of)
  const { nextOffset: from } = stored
  if (log.state !== 'ok') throw new Error(log.message)
  if (to <= from)
    throw new OffsetsUsageError(
      `--to takes an offset after ${from}, the next offset of ${nameOf(of)}, got ${to}`,
    )
  if (to > log.end)
    throw new OffsetsUsageError(`--to takes at most ${log.end}, where ${nameOf(of)} ends, got ${to}`)
  const count = to - from
  const givesUp = `${count === 1 ? '1 offset is' : `${count} offsets are`} given up: ${nameOf(of)}, ${offsets(from, to)}, whatever they hold`
  return { ...of, from, next: to, topicId: log.topicId, reason: 'skipped', givesUp }
}

/**
 * Does what was planned: moves the stored offset and sends a dead letter that names the offsets. `onMoved` runs in the
 * same transaction. Throws an error if the partition has moved meanwhile. After a crash in between, there may be two
 * dead letters.
 */
export async function move(
  { db, topicPrefix }: Omit<OffsetsDeps, 'kafka'>,
  producer: Pick<Producer, 'send'>,
  plan: Move,
  onMoved: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { topic, partition, from, next, topicId, reason, givesUp } = plan
  await db.transaction().execute(async tx => {
    await sql`set local lock_timeout = '30s'`.execute(tx)
    const { next: stored } = await lockOffset(tx, topic, partition)
    if (stored !== from)
      throw new Error(
        `${nameOf(plan)} has moved from offset ${from} to ${stored} meanwhile: run the command again`,
      )
    const deadLetter = skippedDeadLetter(
      topicNames(topicPrefix),
      { topic, partition, offset: from },
      { reason, message: givesUp },
    )
    await moveOffset(tx, plan, { next, topicId })
    await onMoved(tx)
    // Last: it cannot be taken back.
    await producer.send([deadLetter])
  })
}

async function inspect(
  { kafka, db, topicPrefix }: OffsetsDeps,
  of: TopicPartition,
): Promise<{ stored: StoredLog; log: JudgedLog }> {
  const topics = [...recordTopics(topicNames(topicPrefix)).keys()]
  if (!topics.includes(of.topic))
    throw new OffsetsUsageError(`there is no topic ${of.topic}: Tally reads ${topics.join(', ')}`)
  const count = (await describeTopics(kafka, [of.topic])).get(of.topic)
  const logs = await readLogs(db, [of.topic])
  const stored = logs.find(({ partition }) => partition === of.partition)
  if (count === undefined) throw new Error(`${of.topic} is not in Kafka: run \`tally topics create\``)
  // With fewer, the next records of an event would lie in another shard, whose watermark is not the event's.
  const had = Math.max(...logs.map(({ partition }) => partition + 1))
  if (count < had)
    throw new Error(
      `${of.topic} has ${count} of its ${had} partitions: add the others (kafka-topics.sh --alter --partitions ${had}), then run the command again`,
    )
  if (of.partition >= count || stored === undefined) {
    const why =
      of.partition >= count ? `has ${count} partitions, from 0` : 'has not been read by a projector yet'
    throw new OffsetsUsageError(
      `there is no ${nameOf(of)} to move: ${of.partition >= count ? of.topic : 'it'} ${why}`,
    )
  }
  const [log] = await judgeLogs(kafka, [stored])
  if (log === undefined) throw new Error(`no broker leads ${nameOf(of)} right now: try again`)
  return { stored, log }
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}-${partition}`
const offsets = (from: number, next: number): string =>
  next - from === 1 ? `offset ${from}` : `offsets ${from} to ${next - 1}`
