import { setTimeout as sleep } from 'node:timers/promises'
import { isFatal } from '@tally/platform'
import { backoffMs } from '../client/backoff.ts'
import { type Cluster, openCluster } from '../client/cluster.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { TopicMissingError } from '../errors.ts'
import { describeTopics } from '../topics/topics.ts'
import type { RecordBatch } from '../types.ts'
import { cutAt, logAfterDeletion } from './bounds.ts'
import { fetchOnce } from './fetchOnce.ts'
import { fetchParts } from './fetchParts.ts'
import { endOffsets } from './offsets.ts'

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
  yield { topic, partition, from, next: log.start, highWatermark: log.end, records: [] }
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
