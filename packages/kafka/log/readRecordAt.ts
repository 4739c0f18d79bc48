import { createHash } from 'node:crypto'
import { inside, type KafkaConnection } from '../client/connection.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import type { KafkaRecord } from '../types.ts'
import { fetchOnce } from './fetchOnce.ts'
import { fetchParts } from './fetchParts.ts'

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

/** SHA-256 over a record's offset, timestamp, key and value; a record of another log has a different one. */
export function fingerprintOf({
  offset,
  timestampMs,
  key,
  value,
  leftOut,
}: Pick<KafkaRecord, 'offset' | 'timestampMs' | 'key' | 'value' | 'leftOut'>): Buffer {
  const hash = createHash('sha256')
  hash.update(`${offset} ${timestampMs} ${key?.length ?? -1} ${value?.length ?? -1} ${hashOf(leftOut)}\n`)
  if (key !== null) hash.update(key)
  if (value !== null) hash.update(value)
  hash.update(hashOf(leftOut))
  return hash.digest()
}

const hashOf = (leftOut: KafkaRecord['leftOut']): string => leftOut?.sha256 ?? ''
