import { createHash } from 'node:crypto'
import { type KafkaConnection, inside } from './connection.ts'
import { fetchOnce } from './fetchOnce.ts'
import type { TopicPartition } from './leaders.ts'
import type { KafkaRecord } from './types.ts'

/** Kafka returns the first batch of records whatever its size, and this asks for no more. */
const ONE_BATCH_BYTES = 1

/**
 * The record at exactly this offset, or undefined if the log holds no visible record there: deleted, compacted away, a
 * control record. Throws kafkajs's error if Kafka does not answer.
 */
export async function readRecordAt(
  connection: KafkaConnection,
  { topic, partition }: TopicPartition,
  offset: number,
): Promise<KafkaRecord | undefined> {
  const batch = await inside(connection).cluster.use([topic], cluster =>
    fetchOnce(cluster, topic, partition, offset, ONE_BATCH_BYTES),
  )
  return batch?.records.find(record => record.offset === offset)
}

/** SHA-256 over a record's offset, timestamp, key and value: the same record in another log has another one. */
export function fingerprintOf({
  offset,
  timestampMs,
  key,
  value,
}: Pick<KafkaRecord, 'offset' | 'timestampMs' | 'key' | 'value'>): Buffer {
  const hash = createHash('sha256')
  hash.update(`${offset} ${timestampMs} ${key?.length ?? -1} ${value?.length ?? -1}\n`)
  if (key !== null) hash.update(key)
  if (value !== null) hash.update(value)
  return hash.digest()
}
