import type { Cluster } from '../client/cluster.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import type { KafkaRecord } from '../types.ts'
import { logAfterDeletion } from './bounds.ts'
import { fetchOnce } from './fetchOnce.ts'
import { fetchParts } from './fetchParts.ts'

/** Offsets of a window: a listing of a few records reads one, a long search few requests. */
const firstWindow = 128
const largestWindow = 2_048
/** A fetch reads on past the end of its window, and all of it is unpacked. */
const fetchBytes = 64 * 1024

type Range = { start: number; end: number }

/** Some records, the newest first; all records of the range at or after `from` are read by now. */
export type WindowRead<T> = { from: number; kept: T[] }

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
