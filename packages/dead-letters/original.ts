import { createHash } from 'node:crypto'
import { type KafkaConnection, maxValueBytes, type OutgoingRecord, readRecordAt } from '@tally/kafka'
import type { DeadLetter } from './deadLetter.ts'
import { ownHeaders } from './headers.ts'

/** Why a dead letter cannot be replayed, as a sentence. */
export type Refused = { id: string; why: string }

/** The record as it was first sent; without a key it goes to its own partition, otherwise to that of its key. */
export function originalOf({ source, key, value, headers }: DeadLetter): OutgoingRecord {
  const record = { topic: source.topic, key, value, headers: ownHeaders(headers) }
  return key === null ? { ...record, partition: source.partition } : record
}

/**
 * The record of a dead letter whose value was left out, read from its topic; never one without a value. Throws
 * kafkajs's error if Kafka does not answer.
 */
export async function findOriginal(
  kafka: KafkaConnection,
  { id, source, leftOut }: DeadLetter & { leftOut: NonNullable<DeadLetter['leftOut']> },
): Promise<OutgoingRecord | Refused> {
  const { topic, partition, offset } = source
  const at = `offset ${offset} of ${topic}-${partition}`
  if (leftOut.bytes > maxValueBytes)
    return {
      id,
      why: `its value of ${leftOut.bytes} bytes is at ${at}, but Tally reads at most ${maxValueBytes}`,
    }
  const record = await readRecordAt(kafka, { topic, partition }, offset)
  if (record === undefined || record.value === null || sha256Of(record.value) !== leftOut.sha256)
    return { id, why: `the dead letter has no value, and ${at} no longer holds the record` }
  const { key, value, headers } = record
  return { topic, key, value, headers, ...(key === null && { partition }) }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
