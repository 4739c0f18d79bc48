import type { KafkaConnection } from '../client/connection.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import type { RecordBatch } from '../types.ts'
import { endOffsets } from './offsets.ts'

/** The part of a batch below an offset. */
export function cutAt(end: number, batch: RecordBatch): RecordBatch {
  if (batch.next <= end) return batch
  return { ...batch, next: end, records: batch.records.filter(({ offset }) => offset < end) }
}

/** Where a log starts and ends after retention deleted records at `from`. Throws if it has that offset, or is gone. */
export async function logAfterDeletion(
  connection: KafkaConnection,
  { topic, partition }: TopicPartition,
  from: number,
): Promise<{ start: number; end: number }> {
  const log = (await endOffsets(connection, [topic])).get(topic)?.get(partition)
  if (log === undefined || log.start <= from)
    throw new Error(
      `${topic}-${partition} does not hold offset ${from}: was the topic created again meanwhile?`,
    )
  return log
}
