import { hash } from 'node:crypto'
import { type KafkaRecord, maxValueBytes, type RecordHeaders } from '../types.ts'
import type { BatchHeader } from './batchHeader.ts'
import { type Cursor, readBytes, readVarInt } from './varint.ts'

/** The fields before a record's key. */
export type RecordStart = Pick<KafkaRecord, 'offset' | 'timestampMs'>

/**
 * Decodes the record in `cursor.bytes` from `cursor.at` on; its key and value are slices of those bytes. A value of
 * more than 8 MiB is left out. Throws if the bytes are not a record.
 */
export function readKafkaRecord(cursor: Cursor, batch: BatchHeader): KafkaRecord {
  const { offset, timestampMs } = readStart(cursor, batch)
  const key = readBytes(cursor)
  const value = readBytes(cursor)
  const headers = readHeaders(cursor)
  if (value === null || value.length <= maxValueBytes) return { offset, timestampMs, key, value, headers }
  const leftOut = { bytes: value.length, sha256: hash('sha256', value) }
  return { offset, timestampMs, key, value: null, headers, leftOut }
}

export function readStart(cursor: Cursor, batch: BatchHeader): RecordStart {
  cursor.at += 1 // attributes: none is defined
  const timestampMs = batch.firstTimestampMs + readVarInt(cursor)
  return {
    timestampMs: batch.appendedAtMs ?? timestampMs,
    offset: batch.firstOffset + readVarInt(cursor),
  }
}

/** Shared by all records without headers, which most are: an object without a prototype for each would be expensive. */
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
