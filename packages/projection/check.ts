import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import {
  type Event,
  isObject,
  jsonOf,
  type Order,
  type Organization,
  type RecordType,
  type Refund,
  type Rejected,
  type RejectionReason,
  recordTypes,
  schemaIssues,
} from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import { type KafkaRecord, partitionOf, type RecordBatch } from '@tally/kafka'
import type { Placed } from './effects.ts'
import { judgeBatch } from './judge/judgeBatch.ts'
import {
  applyEvent,
  applyOrganization,
  applyRefund,
  applyVersion,
  type Content,
  type DiffersIn,
  eventContent,
  orderContent,
  organizationContent,
  refundContent,
} from './judge/versions.ts'

/** What is wrong with a record: the reason of its rejection, the field and what it takes. Never a value. */
export type RecordFinding = {
  type: RecordType
  partition: number
  offset: number
  /** `partition`: the record counts, but another partitioner has chosen its partition. */
  reason: RejectionReason | 'partition'
  field: string
  takes: string
} & Partial<Mistake>

export type Counts = { records: number; rejected: number; misplaced: number }

/**
 * Opens a check of records by the judgement of the projector, without storing anything. `check` returns what is wrong
 * with a batch, in the order of its records, with all wrong fields of each; `partitions` is how many the topic has, if
 * the records' partition is to be judged too. It remembers what was said of each entity (`createMemory`), which decides
 * a `conflict` and a `contradiction`.
 */
export function createCheck() {
  const counts: Counts = { records: 0, rejected: 0, misplaced: 0 }
  const memory = createMemory()

  const check = (type: RecordType, batch: RecordBatch, partitions?: number): RecordFinding[] => {
    const { partition, records } = batch
    const { good, rejected } = judgeBatch(type, batch, {})
    const reasons = new Map(
      [...rejected, ...memory.judge(type, good)].map(({ offset, rejected }) => [offset, rejected]),
    )
    const findings: RecordFinding[] = []
    for (const record of records) {
      const at = { type, partition, offset: record.offset }
      const reason = reasons.get(record.offset)
      if (reason !== undefined) {
        counts.rejected += 1
        findings.push(...findingsOf(type, reason, record).map(found => ({ ...at, ...found })))
      } else if (partitions !== undefined && isMisplaced(record, partition, partitions)) {
        counts.misplaced += 1
        findings.push({ ...at, ...misplaced, ...wrongPartitioner() })
      }
    }
    counts.records += records.length
    return findings
  }
  return { check, counts }
}

const misplaced = {
  reason: 'partition',
  field: 'partition',
  takes: 'must be murmur2 of the key, modulo the number of partitions',
} as const

const isMisplaced = ({ key }: KafkaRecord, partition: number, partitions: number): boolean =>
  key !== null && partitionOf(key, partitions) !== partition

/** The fields that are named of one record: it may have 500 lines with five each. */
const mostFields = 100

/** What is wrong with a rejected record: one finding, or one for each field that breaks its schema. */
function findingsOf(type: RecordType, { reason, message }: RejectedAt['rejected'], record: KafkaRecord) {
  const mistake = mistakeBehind(type, reason, record)
  if (reason === 'schema')
    // Behind an envelope every field is missing: that says nothing.
    return schemaIssues(type, record.value, mistake === undefined ? mostFields : 1).map(
      ({ field, takes }) => ({ reason, field: field || 'value', takes, ...mistake }),
    )
  // These messages begin with the path of a field and a colon (judge/versions.ts).
  const hasPath = reason === 'conflict' || reason === 'contradiction'
  const [, path, takes] = (hasPath && /^([^:]+): (.*)$/s.exec(message)) || []
  const field = path ?? (reason === 'key-mismatch' ? 'key' : 'value')
  return [{ reason, field, takes: takes ?? message, ...mistake }]
}

/** What of a record decides about later ones; its type may lack an owner. About 200 bytes, whatever its size. */
type Remembered = { version: number; organizationId: string; orderId: string; digest: string }

type Outcome = { outcome: 'applied' | 'duplicate' } | Rejected

/** How records of one type are judged by those before them, as the projector does (packages/projection/apply). */
type Judge<Value> = {
  id: (value: Value) => string
  content: (value: Value) => Content
  apply: (known: Remembered | undefined, value: Value, differsIn: DiffersIn) => Outcome
}

const judges: { [Type in RecordType]: Judge<never> } = {
  organizations: {
    id: ({ organizationId }: Organization) => organizationId,
    content: organizationContent,
    apply: applyOrganization,
  },
  events: { id: ({ eventId }: Event) => eventId, content: eventContent, apply: applyEvent },
  orders: {
    id: ({ eventId, orderId }: Order) => `${eventId}${orderId}`,
    content: orderContent,
    apply: applyVersion,
  },
  refunds: {
    id: ({ eventId, refundId }: Refund) => `${eventId}${refundId}`,
    content: refundContent,
    apply: applyRefund,
  },
}

/** Opens the memory of a check: `judge` rejects what conflicts with or contradicts records that it judged before. */
function createMemory() {
  const remembered: Record<RecordType, Map<string, Remembered>> = {
    organizations: new Map(),
    events: new Map(),
    orders: new Map(),
    refunds: new Map(),
  }

  const judge = (type: RecordType, records: Placed<unknown>[]): RejectedAt[] => {
    const { id, content, apply } = judges[type] as Judge<Omit<Remembered, 'digest'>>
    const rejected: RejectedAt[] = []
    for (const { offset, value } of records as Placed<Remembered>[]) {
      const key = id(value)
      const known = remembered[type].get(key)
      const digest = digestOf(content(value))
      const outcome = apply(known, value, () => (known?.digest === digest ? undefined : 'version'))
      if (outcome.outcome === 'rejected') rejected.push({ offset, rejected: outcome })
      const { version, organizationId, orderId } = value
      if (outcome.outcome === 'applied')
        remembered[type].set(key, { version, organizationId, orderId, digest })
    }
    return rejected
  }
  return { judge }
}

/** 96 bits: of a million orders, two contents with one digest are not to be expected. */
const digestOf = (content: Content): string => hash('sha1', JSON.stringify(content), 'base64').slice(0, 16)

/** A usual mistake of producers, and what to do about it. Neither quotes the record. */
type Mistake = { mistake: keyof typeof mistakes; advice: string }

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
function mistakeBehind(
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
const wrongPartitioner = (): Mistake => ({ mistake: 'partitioner', advice: mistakes.partitioner })

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
  if ('specversion' in json) return 'cloudevents'
  if ('op' in json && 'after' in json) return 'debezium'
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

const contentOf = (value: Buffer | null): unknown => jsonOf(String(value))
