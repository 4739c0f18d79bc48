import { setTimeout as sleep } from 'node:timers/promises'
import { isFatal } from '@tally/platform'
import { FetchedBatch, isFirstReport } from '../batches/fetchedBatch.ts'
import { readParts } from '../batches/readParts.ts'
import { backoffMs } from '../client/backoff.ts'
import { type Cluster, inside, type KafkaConnection, openCluster } from '../client/connection.ts'
import { TopicMissingError } from '../errors.ts'
import { describeTopics } from '../topics/topics.ts'
import type { KafkaRecord, RecordBatch, TopicPartition } from '../types.ts'
import { errorOf, fetchFrom, offsetOutOfRange } from './fetch.ts'
import { cutAt, endOffsets, logAfterDeletion } from './logEnds.ts'

/** One read of a topic; `left` is the number of offsets of the whole topic that are still to be read after it. */
export type TopicRead = RecordBatch & { left: number }

const maxTries = 6

/**
 * Reads a topic once, partition after partition, from its first record to the ends that Kafka reports at the start,
 * without the records sent meanwhile. It asks the partitions' leaders itself: no consumer group is created, joined or
 * moved, and nothing is committed. Throws TopicMissingError, UndecodableBatchError, or kafkajs's error if Kafka does
 * not answer after a few tries.
 */
export async function* readTopic(connection: KafkaConnection, topic: string): AsyncGenerator<TopicRead> {
  const partitions = await topicLogs(connection, topic)
  let left = partitions.reduce((sum, [, { start, end }]) => sum + end - start, 0)
  if (left === 0) return
  const cluster = openCluster(inside(connection).kafka)
  try {
    for (const [partition, { start, end }] of partitions) {
      for (let next = start; next < end; ) {
        const fetch = (from: number) =>
          withRetries(cluster, topic, () => fetchOnce(cluster, topic, partition, from))
        for await (const part of orDeleted(connection, fetchParts(fetch, next), { topic, partition, next })) {
          const read = cutAt(end, part)
          left -= read.next - next
          next = read.next
          yield { ...read, left }
          if (next === end) break
        }
      }
    }
  } finally {
    await cluster.disconnect().catch(() => undefined)
  }
}

/** Where the log of each partition starts and ends for a reader, in their order. Throws TopicMissingError. */
export async function topicLogs(
  connection: KafkaConnection,
  topic: string,
): Promise<[partition: number, { start: number; end: number }][]> {
  if (!(await describeTopics(connection, [topic])).has(topic)) throw new TopicMissingError([topic])
  const logs = (await endOffsets(connection, [topic])).get(topic) ?? []
  return [...logs].sort(([one], [other]) => one - other)
}

/** The parts; if there are none, a batch without records that skips what retention has deleted meanwhile. */
async function* orDeleted(
  connection: KafkaConnection,
  parts: AsyncIterable<RecordBatch>,
  { topic, partition, next: from }: { topic: string; partition: number; next: number },
): AsyncGenerator<RecordBatch> {
  let isEmpty = true
  for await (const part of parts) {
    isEmpty = false
    yield part
  }
  if (!isEmpty) return
  const log = await logAfterDeletion(connection, { topic, partition }, from)
  yield { topic, partition, from, next: log.start, lastStableOffset: log.end, records: [] }
}

/** A moved leader or a broken connection heals; each attempt first asks for the current leader. */
async function withRetries<T>(cluster: Cluster, topic: string, once: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      if (!cluster.isConnected()) await cluster.connect()
      await (failures === 0 ? cluster.addTargetTopic(topic) : cluster.refreshMetadata())
      return await once()
    } catch (error) {
      if (++failures === maxTries || isFatal(error)) throw error
      await sleep(backoffMs(failures))
    }
  }
}

/** Offsets of a window: a listing of a few records reads one, a long search few requests. */
const firstWindow = 128
const largestWindow = 2_048
/** A fetch reads on past the end of its window, and all of it is unpacked. */
const fetchBytes = 64 * 1024

type Range = { start: number; end: number }

/** Some records, the newest first; all records of the range at or after `from` are read by now. */
type WindowRead<T> = { from: number; kept: T[] }

/**
 * Reads the records of a partition between two offsets backwards, in windows that grow; of each record only what `keep`
 * returns stays in memory. No consumer group is involved. Throws UndecodableBatchError, or kafkajs's error if Kafka
 * does not answer.
 */
export async function* readBack<T>(
  connection: KafkaConnection,
  of: TopicPartition,
  { start, end }: Range,
  keep: (record: KafkaRecord) => T,
): AsyncGenerator<WindowRead<T>, void> {
  let size = firstWindow
  for (let to = end; to > start; size = Math.min(2 * size, largestWindow)) {
    const from = Math.max(start, to - size)
    const kept = await readWindow(connection, of, { start: from, end: to }, keep)
    yield { from, kept: kept.reverse() }
    to = from
  }
}

function readWindow<T>(
  connection: KafkaConnection,
  { topic, partition }: TopicPartition,
  { start, end }: Range,
  keep: (record: KafkaRecord) => T,
): Promise<T[]> {
  return inside(connection).cluster.use([topic], async (cluster: Cluster) => {
    const kept: T[] = []
    for (let next = start; next < end; ) {
      const from = next
      for await (const part of fetchParts(at => fetchOnce(cluster, topic, partition, at, fetchBytes), from)) {
        for (const record of part.records) if (record.offset < end) kept.push(keep(record))
        next = part.next
      }
      if (next === from) next = (await logAfterDeletion(connection, { topic, partition }, from)).start
    }
    return kept
  })
}

/** Kafka returns the first batch of records whatever its size, and one batch is enough. */
const oneBatchBytes = 1

/**
 * The record at exactly this offset, or undefined if the log holds no visible record there (deleted, compacted away, a
 * control record). Throws UndecodableBatchError, or kafkajs's error if Kafka does not answer.
 */
export async function readRecordAt(
  connection: KafkaConnection,
  { topic, partition }: TopicPartition,
  offset: number,
): Promise<KafkaRecord | undefined> {
  const fetch = (from: number) =>
    inside(connection).cluster.use([topic], cluster =>
      fetchOnce(cluster, topic, partition, from, oneBatchBytes),
    )
  // The records before it in its batch are left out: it is the first, or the log does not hold it.
  for await (const { records } of fetchParts(fetch, offset)) {
    const [first] = records
    if (first !== undefined) return first.offset === offset ? first : undefined
  }
  return undefined
}

/**
 * The parts (see readParts) of one fetch from `from` on; of none if `fetch` returns undefined, because the log no
 * longer holds the offset. A batch that cannot be decoded is fetched again; throws UndecodableBatchError if it still
 * cannot be.
 */
async function* fetchParts(
  fetch: (from: number) => Promise<FetchedBatch | undefined>,
  from: number,
): AsyncGenerator<RecordBatch, void> {
  let suspected: number | undefined
  for (let next = from; ; ) {
    const fetched = await fetch(next)
    if (fetched === undefined) return
    try {
      for await (const part of readParts(fetched)) {
        yield part
        next = part.next
      }
      return
    } catch (error) {
      if (!isFirstReport(error, suspected)) throw error
      suspected = error.from
    }
  }
}

const defaultMaxBytes = 4 * 1024 * 1024
/** No read waits longer for a record: below the end that Kafka reported there is a record or nothing to wait for. */
const maxWaitMs = 500

/** The result of one fetch, or undefined if the log no longer holds that offset. */
async function fetchOnce(
  cluster: Cluster,
  topic: string,
  partition: number,
  offset: number,
  maxBytes = defaultMaxBytes,
): Promise<FetchedBatch | undefined> {
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId === undefined) throw new Error(`${topic}-${partition} has no leader`)
  const broker = await cluster.findBroker({ nodeId })
  const wanted = [{ topic, partition, offset, maxBytes }]
  const [answered] = await fetchFrom(broker, { maxWaitMs, maxBytes }, wanted)
  if (answered === undefined) throw new Error(`Kafka's answer to a read of ${topic}-${partition} is empty`)
  if (answered.errorCode === offsetOutOfRange) return undefined
  if (answered.errorCode !== 0) throw errorOf(answered.errorCode)
  const fetched = new FetchedBatch(answered, offset)
  // For a moment, a new leader may not know how far consumers may read.
  if (fetched.isEmpty) throw new Error(`${topic}-${partition} now ends before offset ${offset}`)
  return fetched
}
