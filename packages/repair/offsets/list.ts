import {
  describeTopics,
  type JudgedLog,
  judgeLogs,
  type KafkaConnection,
  logEnds,
  partitionKey,
  partitionsOf,
  recordTopics,
  topicNames,
} from '@tally/kafka'
import { readLogs, type StallState, type StoredLog } from '@tally/offsets'
import type { Postgres } from '@tally/platform'

/** One line of `tally offsets`: `applied` is the next offset to read; null if Kafka or Tally knows none. */
export type ListedOffset = {
  topic: string
  partition: number
  applied: number | null
  logStart: number | null
  logEnd: number | null
  state: 'ok' | 'behind' | StallState
}

export type OffsetsDeps = { kafka: KafkaConnection; db: Postgres; topicPrefix: string }

/**
 * All partitions that Kafka or Postgres knows, by topic and partition. `gap` and `recreated` are determined now;
 * `undecodable` is what a projector last stored, because detecting it requires the whole batch.
 */
export async function listOffsets({ kafka, db, topicPrefix }: OffsetsDeps): Promise<ListedOffset[]> {
  const topics = [...recordTopics(topicNames(topicPrefix)).keys()]
  const [stored, counts] = await Promise.all([readLogs(db, topics), describeTopics(kafka, topics)])
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
