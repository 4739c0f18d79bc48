import { isUtf8 } from 'node:buffer'
import { isObject, jsonOf, type RecordType, type RejectionReason, recordTypes } from '@tally/contract'
import type { KafkaRecord } from '@tally/kafka'

/** A usual mistake of producers, and what to do about it. Neither quotes the record. */
export type Mistake = { mistake: keyof typeof mistakes; advice: string }

const mistakes = {
  'schema-registry':
    "The bytes begin with Schema Registry's magic byte 0x00. Use a serializer without Schema Registry: plain UTF-8 JSON, and a plain text key.",
  'connect-schema':
    'Kafka Connect has wrapped it in {"schema","payload"}. Set schemas.enable=false for the converter.',
  'json-in-text':
    'It is JSON inside a JSON string: it was encoded twice. Send the object itself (in Connect: StringConverter, or expand.json.payload).',
  cloudevents: 'It is in a CloudEvents envelope. Send the content of `data` as the value (binary mode).',
  debezium: "It is Debezium's change event. Use the outbox event router, or unwrap it to the record itself.",
  'no-value': 'A record without a value deletes nothing. Send the next version with the status Cancelled.',
  'byte-order-mark': 'The value begins with a byte order mark. Write UTF-8 without one.',
  'other-encoding': 'The bytes are not UTF-8 (Latin-1 or UTF-16?). Write UTF-8 without a byte order mark.',
  'upper-case-key': 'The key is the right id in upper case. Write it in lower case.',
  'json-key': 'The key is JSON. Use a plain text serializer for keys (in Connect: StringConverter).',
  'order-key':
    'The key is the id of the order or refund. Use eventId, so that one partition has the whole event.',
  'same-version':
    'Two different records have one id and version: order numbers that begin again each morning, or a change without a higher version. Make order and refund ids unique within the event (for example with the date before the number), and raise the version with each change.',
  partitioner:
    "The producer uses another partitioner than Kafka's standard murmur2 (librdkafka: partitioner=murmur2_random), or the topic had fewer partitions. The record counts, but asOf of its event is less exact.",
} as const

/** Names the usual mistake behind a rejection; undefined if it is none of them. */
export function mistakeBehind(
  type: RecordType,
  reason: RejectionReason,
  record: Pick<KafkaRecord, 'key' | 'value'>,
): Mistake | undefined {
  if (reason === 'not-json') return named(mistakeOfBytes(record.value))
  if (reason === 'schema') return named(mistakeOfJson(contentOf(record.value)))
  if (reason === 'contradiction') return named('same-version')
  if (reason === 'key-mismatch') return named(mistakeOfKey(type, record))
  return undefined
}

/** The mistake of a record that is in another partition than murmur2 of its key chooses. */
export const wrongPartitioner = (): Mistake => ({ mistake: 'partitioner', advice: mistakes.partitioner })

const named = (mistake: keyof typeof mistakes | undefined): Mistake | undefined =>
  mistake === undefined ? undefined : { mistake, advice: mistakes[mistake] }

function mistakeOfBytes(value: Buffer | null): keyof typeof mistakes | undefined {
  if (value === null) return 'no-value'
  if (value[0] === 0) return 'schema-registry'
  if (value.subarray(0, 3).equals(byteOrderMark)) return 'byte-order-mark'
  return isUtf8(value) ? undefined : 'other-encoding'
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function mistakeOfJson(json: unknown): keyof typeof mistakes | undefined {
  if (typeof json === 'string') return isObject(jsonOf(json)) ? 'json-in-text' : undefined
  if (!isObject(json)) return undefined
  if ('schema' in json && 'payload' in json) return 'connect-schema'
  if ('specversion' in json && 'type' in json && 'source' in json) return 'cloudevents'
  if ('op' in json && ('before' in json || 'after' in json)) return 'debezium'
  return undefined
}

function mistakeOfKey(
  type: RecordType,
  { key, value }: Pick<KafkaRecord, 'key' | 'value'>,
): keyof typeof mistakes | undefined {
  if (key === null) return undefined
  if (key[0] === 0) return 'schema-registry'
  const text = key.toString('utf8')
  const record = contentOf(value) as Record<string, unknown>
  if (text.toLowerCase() === String(record[recordTypes[type].keyField]).toLowerCase()) return 'upper-case-key'
  if (text === record.orderId || text === record.refundId) return 'order-key'
  const json = jsonOf(text)
  if (isObject(json)) return 'schema' in json && 'payload' in json ? 'connect-schema' : 'json-key'
  return typeof json === 'string' ? 'json-key' : undefined
}

const contentOf = (value: Buffer | null): unknown => jsonOf(value?.toString('utf8') ?? '')
