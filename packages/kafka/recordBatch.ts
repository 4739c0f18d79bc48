import type { Batch } from 'kafkajs'
import type { RecordBatch, RecordHeaders } from './types.ts'

/** kafkajs's batch in our shape. Its offsets are strings; a partition would need centuries to outgrow a safe number. */
export function toRecordBatch(batch: Batch): RecordBatch {
  return {
    topic: batch.topic,
    partition: batch.partition,
    // What was asked for, not the first record's offset: between the two there may be records that no reader sees.
    from: Number((batch as Batch & { fetchedOffset: string }).fetchedOffset),
    next: Number(batch.lastOffset()) + 1,
    highWatermark: Number(batch.highWatermark),
    records: batch.messages.map(({ offset, timestamp, key, value, headers }) => ({
      offset: Number(offset),
      timestampMs: Number(timestamp),
      key,
      value,
      headers: headers as RecordHeaders,
    })),
  }
}
