import { createHash } from 'node:crypto'
import { type KafkaConnection, MAX_VALUE_BYTES, type OutgoingRecord, readRecordAt } from '@tally/kafka'
import { ownHeaders } from './headers.ts'
import type { Letter } from './letter.ts'

/** Why a letter cannot be replayed: a sentence that says what to do. */
export type Refused = { id: string; why: string }

/** The record as it was sent first; one without a key goes to its own partition, any other to that of its key. */
export function originalOf({ source, key, value, headers }: Letter): OutgoingRecord {
  const record = { topic: source.topic, key, value, headers: ownHeaders(headers) }
  return key === null ? { ...record, partition: source.partition } : record
}

/**
 * The record of a letter whose value was left out, as its topic still holds it; never one without its value. Throws
 * kafkajs's error where Kafka cannot be asked.
 */
export async function findOriginal(
  kafka: KafkaConnection,
  { id, source, leftOut }: Letter & { leftOut: NonNullable<Letter['leftOut']> },
): Promise<OutgoingRecord | Refused> {
  const { topic, partition, offset } = source
  const at = `offset ${offset} of ${topic}-${partition}`
  if (leftOut.bytes > MAX_VALUE_BYTES)
    return {
      id,
      why: `its value of ${leftOut.bytes} bytes is at ${at}, but Tally reads at most ${MAX_VALUE_BYTES}`,
    }
  const record = await readRecordAt(kafka, { topic, partition }, offset)
  if (record === undefined || record.value === null || sha256Of(record.value) !== leftOut.sha256)
    return { id, why: `the letter came without its value, and ${at} does not hold the record any more` }
  const { key, value, headers } = record
  return { topic, key, value, headers, ...(key === null && { partition }) }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
