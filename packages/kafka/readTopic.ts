import { createRequire } from 'node:module'
import { isFatal } from '@tally/runtime'
import type { Batch } from 'kafkajs'
import { backoffMs, rest } from './backoff.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { type KafkaConnection, inside } from './connection.ts'
import { TopicMissingError } from './errors.ts'
// Before kafkajs's own modules are asked for: it patches them.
import './kafkajs.ts'
import { endOffsets } from './offsets.ts'
import { toRecordBatch } from './recordBatch.ts'
import { describeTopics } from './topics.ts'
import type { RecordBatch } from './types.ts'

/** One read of a topic; `left` is the number of offsets of the whole topic that are still to be read after it. */
export type TopicRead = RecordBatch & { left: number }

const MAX_BYTES = 4 * 1024 * 1024
/** No read waits longer than this for a record: below the end that Kafka named there is one, or nothing to wait for. */
const MAX_WAIT_MS = 500
const TRIES = 6

/**
 * Reads a topic once, partition after partition, from its first record to the ends that Kafka names at the beginning, and
 * ends; what is sent meanwhile is left out. It asks the partitions' leaders itself: no consumer group is made, joined or
 * moved by it, and nothing is committed. Throws TopicMissingError, or kafkajs's error where Kafka cannot be asked, also
 * after a few tries.
 */
export async function* readTopic(connection: KafkaConnection, topic: string): AsyncGenerator<TopicRead> {
  if (!(await describeTopics(connection, [topic])).has(topic)) throw new TopicMissingError([topic])
  const ends = (await endOffsets(connection, [topic])).get(topic) ?? []
  const partitions = [...ends].sort(([one], [other]) => one - other)
  let left = partitions.reduce((sum, [, { start, end }]) => sum + end - start, 0)
  if (left === 0) return
  const cluster = openCluster(inside(connection).kafka)
  try {
    for (const [partition, { start, end }] of partitions) {
      for (let next = start; next < end; ) {
        const batch = await withRetries(cluster, topic, () => fetchOnce(cluster, topic, partition, next))
        const read = cutAt(end, batch ?? (await afterDeleted(connection, topic, partition, next)))
        left -= read.next - next
        next = read.next
        yield { ...read, left }
      }
    }
  } finally {
    await cluster.disconnect().catch(() => undefined)
  }
}

/** The records that one fetch brings, or undefined where the log does not hold that offset any more. */
async function fetchOnce(
  cluster: Cluster,
  topic: string,
  partition: number,
  offset: number,
): Promise<RecordBatch | undefined> {
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId === undefined) throw new Error(`${topic}-${partition} has no leader`)
  const broker = await cluster.findBroker({ nodeId })
  const wanted = { partition, fetchOffset: String(offset), maxBytes: MAX_BYTES }
  const topics = [{ topic, partitions: [wanted] }]
  try {
    const { responses } = await broker.fetch({
      topics,
      maxBytes: MAX_BYTES,
      maxWaitTime: MAX_WAIT_MS,
      minBytes: 1,
    })
    const found = responses[0]?.partitions[0]
    if (found === undefined) throw new Error(`Kafka's answer to a read of ${topic}-${partition} is empty`)
    const batch = toRecordBatch(new KafkajsBatch(topic, String(offset), found))
    // A new leader may not know for a moment how far it may let us read.
    if (batch.next <= offset) throw new Error(`${topic}-${partition} ends before offset ${offset} by now`)
    return batch
  } catch (error) {
    if ((error as { type?: string }).type === 'OFFSET_OUT_OF_RANGE') return undefined
    throw error
  }
}

/** Steps over what retention has deleted since the offsets were asked for. */
async function afterDeleted(
  connection: KafkaConnection,
  topic: string,
  partition: number,
  from: number,
): Promise<RecordBatch> {
  const log = (await endOffsets(connection, [topic])).get(topic)?.get(partition)
  if (log === undefined || log.start <= from)
    throw new Error(`${topic}-${partition} does not hold offset ${from}: was the topic made anew meanwhile?`)
  return { topic, partition, from, next: log.start, highWatermark: log.end, records: [] }
}

function cutAt(end: number, batch: RecordBatch): RecordBatch {
  if (batch.next <= end) return batch
  return { ...batch, next: end, records: batch.records.filter(({ offset }) => offset < end) }
}

/** A leader that moved or a connection that broke heals; each try asks first who leads by now. */
async function withRetries<T>(cluster: Cluster, topic: string, once: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      if (!cluster.isConnected()) await cluster.connect()
      await (failures === 0 ? cluster.addTargetTopic(topic) : cluster.refreshMetadata())
      return await once()
    } catch (error) {
      if (++failures === TRIES || isFatal(error)) throw error
      await rest(backoffMs(failures), new AbortController().signal)
    }
  }
}

const KafkajsBatch: new (topic: string, fetchedOffset: string, partition: object) => Batch = createRequire(
  import.meta.url,
)('kafkajs/src/consumer/batch.js')
