import type { KafkaRecord, OutgoingRecord } from '@tally/kafka'
import type { RejectedAt } from './effects.ts'

/**
 * The dead letter of a rejected record: its key, value and headers untouched, and why and where it was rejected
 * under the names that Kafka Connect's tools know (messages.md section 3).
 */
export function deadLetter(
  topic: string,
  {
    source,
    partition,
    record,
    rejected,
  }: { source: string; partition: number; record: KafkaRecord; rejected: RejectedAt['rejected'] },
): OutgoingRecord {
  const { key, value, headers } = record
  const added = {
    'tally.reason': rejected.reason,
    '__connect.errors.topic': source,
    '__connect.errors.partition': String(partition),
    '__connect.errors.offset': String(record.offset),
    '__connect.errors.exception.message': rejected.message,
  }
  return { topic, key, value, headers: { ...headers, ...withEarlier(headers, added) } }
}

/** A header that came in under one of our names stays, before ours: what came is untouched, the last one is true. */
function withEarlier(headers: KafkaRecord['headers'], added: Record<string, string>): KafkaRecord['headers'] {
  return Object.fromEntries(
    Object.entries(added).map(([name, value]) => {
      const earlier = headers[name]
      return [name, earlier === undefined ? value : [earlier, value].flat()]
    }),
  )
}
