import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Rejected } from '@tally/contract'
import {
  fingerprintOf,
  type KafkaRecord,
  type OutgoingRecord,
  type Producer,
  partitionKey,
  type RecordBatch,
  type RecordHeaders,
  type TopicNames,
  type TopicPartition,
} from '@tally/kafka'
import { added, addedForValue, headerText, leftOutOf } from './deadLetter.ts'

export type RejectedAt = { offset: number; rejected: Rejected }

export type DeadLetters = {
  /**
   * Sends the dead letters of a batch's rejected records (at least one); resolves when Kafka has them. A batch that is
   * retried because Postgres failed sends none a second time.
   */
  send(batch: RecordBatch, rejected: RejectedAt[]): Promise<void>
  /** Forgets what lies before `next`: it is committed, so it is never retried. */
  committed(of: TopicPartition, next: number): void
}

export function createDeadLetters(producer: Pick<Producer, 'send'>, topic: string): DeadLetters {
  /** Dead letters already sent, or being sent, for uncommitted offsets; by partition and offset. */
  const sent = new Map<string, Map<number, Sent>>()
  return {
    async send(batch, rejected) {
      const known = sent.get(partitionKey(batch)) ?? new Map<number, Sent>()
      sent.set(partitionKey(batch), known)
      const { topic: source, partition, records } = batch
      const reasons = new Map(rejected.map(one => [one.offset, one.rejected]))
      const unsent = records.flatMap(record => {
        const rejected = reasons.get(record.offset)
        if (rejected === undefined) return []
        const print = fingerprintOf(record)
        const isSent = known.get(record.offset)?.print.equals(print) === true
        return isSent ? [] : [{ record, rejected, print }]
      })
      if (unsent.length > 0) {
        const deadLetters = unsent.map(one => deadLetter(topic, { source, partition, ...one }))
        const sending = producer.send(deadLetters, smaller)
        for (const { record, print } of unsent) known.set(record.offset, { print, sending })
        sending.catch(() => {
          for (const { record } of unsent)
            if (known.get(record.offset)?.sending === sending) known.delete(record.offset)
        })
      }
      await Promise.all(new Set(rejected.map(({ offset }) => known.get(offset)?.sending)))
    },
    committed(of, next) {
      const known = sent.get(partitionKey(of))
      for (const offset of known?.keys() ?? []) if (offset < next) known?.delete(offset)
    },
  }
}

/** `print`: of the record. A topic that was created again or truncated has another one at the same offset. */
type Sent = { print: Buffer; sending: Promise<void> }

type Rejection = { source: string; partition: number; record: KafkaRecord; rejected: RejectedAt['rejected'] }

/**
 * The dead letter of a rejected record: its key, value and headers untouched, and why and where it was rejected under
 * the names that Kafka Connect's tools know (docs/records.md, Dead letters). If the value is left out, headers hold its
 * size and SHA-256.
 */
function deadLetter(topic: string, { source, partition, record, rejected }: Rejection): OutgoingRecord {
  const { key, value, headers, leftOut } = record
  const ours = {
    ...headersOf({ topic: source, partition, offset: record.offset }, rejected),
    ...(leftOut && valueHeaders(leftOut)),
  }
  const acceptedMs = record.timestampMs
  return { topic, partition: 0, key, value, headers: { ...headers, ...afterOwn(headers, ours) }, acceptedMs }
}

type At = TopicPartition & { offset: number }

const headersOf = (at: At, { reason, message }: { reason: string; message: string }) => ({
  [added.reason]: reason,
  [added.topic]: at.topic,
  [added.partition]: String(at.partition),
  [added.offset]: String(at.offset),
  [added.message]: message,
})

const valueHeaders = ({ bytes, sha256 }: { bytes: number; sha256: string }) => ({
  [addedForValue.bytes]: String(bytes),
  [addedForValue.sha256]: sha256,
})

/**
 * What to send instead of a dead letter that its topic refuses for its size: the same without its value; if that is
 * refused as well, without its key and the record's own headers; after that, undefined.
 */
function smaller(deadLetter: OutgoingRecord): OutgoingRecord | undefined {
  const { value, headers = {} } = deadLetter
  if (value !== null) {
    const bytes = Buffer.byteLength(value)
    const ours = valueHeaders({ bytes, sha256: createHash('sha256').update(value).digest('hex') })
    return { ...deadLetter, value: null, headers: { ...headers, ...afterOwn(headers, ours) } }
  }
  const leftOut = leftOutOf(headers)
  const ours = Object.fromEntries(Object.values(added).map(name => [name, headerText(headers, name) ?? null]))
  const least = { ...deadLetter, key: null, headers: { ...ours, ...(leftOut && valueHeaders(leftOut)) } }
  return isDeepStrictEqual(deadLetter, least) ? undefined : least
}

/** If the record has a header of one of our names, ours follows it: the record's stay, and the last one counts. */
function afterOwn(own: RecordHeaders, ours: Record<string, string>): RecordHeaders {
  return Object.fromEntries(
    Object.entries(ours).map(([name, value]) => {
      const earlier = own[name]
      return [name, earlier === undefined ? value : [earlier, value].flat()]
    }),
  )
}

/** The dead letter for offsets that `tally offsets` skipped, from `offset` on; the message names all of them. */
export function skippedDeadLetter(
  names: TopicNames,
  of: At,
  why: { reason: 'gap' | 'recreated' | 'skipped'; message: string },
): OutgoingRecord {
  return { topic: names.deadLetters, partition: 0, key: null, value: null, headers: headersOf(of, why) }
}
