import { added } from '@tally/dead-letters'
import type { KafkaRecord, RecordHeaders } from '@tally/kafka'

type Over = {
  partition?: number
  offset?: number
  key?: Buffer | null
  value?: Buffer | null
  headers?: RecordHeaders
  reason?: string
  message?: string
}

/** A dead letter of a topic, as a consumer reads it; by default an order without items. */
export function deadLetterRecord(
  topic: string,
  {
    partition = 0,
    offset = 0,
    key = Buffer.from('key'),
    value = Buffer.from('{"items":null}'),
    headers = {},
    reason = 'schema',
    message = 'items: must be an array',
  }: Over = {},
): KafkaRecord {
  const all: [string, RecordHeaders[string]][] = [
    [added.reason, reason],
    [added.topic, topic],
    [added.partition, String(partition)],
    [added.offset, String(offset)],
    [added.message, message],
  ]
  const made: RecordHeaders = Object.create(null)
  for (const [name, values] of [...Object.entries(headers), ...all]) {
    const now = [values].flat().map(one => (typeof one === 'string' ? Buffer.from(one) : one))
    const [first = null, ...more] = name in made ? [made[name] ?? null, ...now].flat() : now
    made[name] = more.length === 0 ? first : [first, ...more]
  }
  return { offset: 0, timestampMs: 1_788_636_667_000, key, value, headers: made }
}
