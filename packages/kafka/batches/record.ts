import { createHash } from 'node:crypto'
import { type KafkaRecord, MAX_VALUE_BYTES, type RecordHeaders } from '../types.ts'
import type { BatchHeader } from './batchHeader.ts'
import { type Cursor, readBytes, readVarInt } from './varint.ts'

/** What stands before a record's key. */
export type RecordStart = Pick<KafkaRecord, 'offset' | 'timestampMs'>

/**
 * Decodes one record, whose bytes are `cursor.bytes` from `cursor.at` to their end; its key and value are parts of them.
 * A value of more than 8 MiB is left out. Throws where the bytes are no record.
 */
export function decodeRecord(cursor: Cursor, batch: BatchHeader): KafkaRecord {
  const { offset, timestampMs } = readStart(cursor, batch)
  const key = readBytes(cursor)
  const value = readBytes(cursor)
  const headers = readHeaders(cursor)
  if (value === null || value.length <= MAX_VALUE_BYTES) return { offset, timestampMs, key, value, headers }
  const leftOut = { bytes: value.length, sha256: createHash('sha256').update(value).digest('hex') }
  return { offset, timestampMs, key, value: null, headers, leftOut }
}

export function readStart(cursor: Cursor, batch: BatchHeader): RecordStart {
  cursor.at += 1 // attributes, of which none is in use
  const timestampMs = batch.firstTimestampMs + readVarInt(cursor)
  return {
    timestampMs: batch.appendedAtMs ?? timestampMs,
    offset: batch.firstOffset + readVarInt(cursor),
  }
}

/** Of all records without headers, most of all; one object without a prototype for each is a hash table of its own. */
export const noHeaders: Readonly<RecordHeaders> = Object.freeze(Object.create(null))

/** Headers by their key, which may be called `toString`, `constructor` or `__proto__`. */
export function readHeaders(cursor: Cursor): Readonly<RecordHeaders> {
  const count = readVarInt(cursor)
  if (count === 0) return noHeaders
  const headers: RecordHeaders = Object.create(null)
  for (let i = 0; i < count; i++) {
    const key = String(readBytes(cursor) ?? '')
    const value = readBytes(cursor)
    const known = headers[key]
    if (known === undefined) headers[key] = value
    else if (Array.isArray(known)) known.push(value)
    else headers[key] = [known, value]
  }
  return headers
}
