import type { KafkaRecord, OutgoingRecord, Producer, RecordBatch, RecordHeaders } from '@tally/kafka'
import type { RejectedAt } from './effects.ts'

export type DeadLetters = {
  /**
   * Sends the dead letters of a batch's rejected records; resolves when Kafka has them. A batch that is tried again, because
   * Postgres did not take it, sends none a second time.
   */
  send(batch: RecordBatch, rejected: RejectedAt[]): Promise<void>
  /** The batch is committed: nobody will try it again. */
  committed(batch: RecordBatch): void
}

export function openDeadLetters(producer: Pick<Producer, 'send'>, topic: string): DeadLetters {
  /** Offsets whose letters Kafka has, of the batches that are not committed yet, by topic and partition. */
  const sent = new Map<string, Set<number>>()
  return {
    async send(batch, rejected) {
      if (rejected.length === 0) return
      const has = sent.get(keyOf(batch)) ?? new Set()
      const byOffset = new Map(rejected.map(one => [one.offset, one.rejected]))
      const letters: OutgoingRecord[] = []
      for (const record of batch.records) {
        const rejected = byOffset.get(record.offset)
        if (rejected === undefined || has.has(record.offset)) continue
        const { topic: source, partition } = batch
        letters.push(deadLetter(topic, { source, partition, record, rejected }))
      }
      await producer.send(letters)
      for (const { offset } of rejected) has.add(offset)
      sent.set(keyOf(batch), has)
    },
    committed: batch => void sent.delete(keyOf(batch)),
  }
}

function keyOf({ topic, partition }: RecordBatch): string {
  return `${topic}:${partition}`
}

/**
 * The dead letter of a rejected record: its key, value and headers untouched, and why and where it was rejected
 * under the names that Kafka Connect's tools know (messages.md section 3).
 */
function deadLetter(
  topic: string,
  {
    source,
    partition,
    record,
    rejected,
  }: { source: string; partition: number; record: KafkaRecord; rejected: RejectedAt['rejected'] },
): OutgoingRecord {
  const { key, value, headers } = record
  return {
    topic,
    key,
    value,
    headers: {
      ...headers,
      'tally.reason': after(headers['tally.reason'], rejected.reason),
      '__connect.errors.topic': after(headers['__connect.errors.topic'], source),
      '__connect.errors.partition': after(headers['__connect.errors.partition'], String(partition)),
      '__connect.errors.offset': after(headers['__connect.errors.offset'], String(record.offset)),
      '__connect.errors.exception.message': after(
        headers['__connect.errors.exception.message'],
        rejected.message,
      ),
    },
  }
}

/** A header that came in under one of our names stays, before ours: what came is untouched, the last one is true. */
function after(earlier: RecordHeaders[string] | undefined, value: string): RecordHeaders[string] {
  return earlier === undefined ? value : [earlier, value].flat()
}
