import type { Codec } from '../codecs/codec.ts'
import { codecs } from '../codecs/codecs.ts'
import type { KafkaRecord, RecordHeaders } from '../types.ts'
import type { Entry } from './fetchedBatch.ts'

/** The header of a record batch (format 2). */
export type BatchHeader = {
  firstOffset: number
  firstTimestampMs: number
  /** The timestamp of every record if the broker stamps them (LogAppendTime); otherwise undefined. */
  appendedAtMs: number | undefined
  producerId: bigint
  isControl: boolean
  count: number
  /** Undefined if the records are not compressed. */
  codec: Codec | undefined
}

const headerBytes = 61
const codecBits = 7
const logAppendTimeBit = 8
const controlBit = 32

/** Throws if the codec is unknown. */
export function readHeader({ bytes, firstOffset }: Entry): BatchHeader {
  const attributes = bytes.readInt16BE(21)
  const codec = codecs.get(attributes & codecBits)
  if (codec === undefined && (attributes & codecBits) !== 0)
    throw new Error(`it is packed with the unknown codec ${attributes & codecBits}`)
  return {
    firstOffset,
    firstTimestampMs: Number(bytes.readBigInt64BE(27)),
    appendedAtMs: attributes & logAppendTimeBit ? Number(bytes.readBigInt64BE(35)) : undefined,
    producerId: bytes.readBigInt64BE(43),
    isControl: (attributes & controlBit) > 0,
    count: bytes.readInt32BE(57),
    codec,
  }
}

/** The records of a batch, still compressed. */
export const packedRecords = ({ bytes }: Entry): Buffer => bytes.subarray(headerBytes)

/** The fields before a record's key. */
type RecordStart = Pick<KafkaRecord, 'offset' | 'timestampMs'>

/**
 * Decodes the record in `cursor.bytes` from `cursor.at` on; its key and value are slices of those bytes. Throws if the
 * bytes are not a record.
 */
export function readKafkaRecord(cursor: Cursor, batch: BatchHeader): KafkaRecord {
  const { offset, timestampMs } = readStart(cursor, batch)
  return {
    offset,
    timestampMs,
    key: readBytes(cursor),
    value: readBytes(cursor),
    headers: readHeaders(cursor),
  }
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

/** A read position in bytes. */
type Cursor = { bytes: Buffer; at: number }

/** A signed zigzag varint; exact up to 2^53. Throws if the bytes end too early or the number is too long. */
export function readVarInt(cursor: Cursor): number {
  const { bytes } = cursor
  const first = bytes[cursor.at++]
  if (first === undefined) throw new Error('its records end too early')
  if (first < 128) return (first >>> 1) ^ -(first & 1)
  let value = first & 127
  for (let place = 128; place <= 2 ** 63; place *= 128) {
    const byte = bytes[cursor.at++]
    if (byte === undefined) throw new Error('its records end too early')
    value += (byte & 127) * place
    if (byte < 128) return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
  throw new Error('a number without an end')
}

/** Length-prefixed bytes, or null, not copied. Throws if there are fewer. */
function readBytes(cursor: Cursor): Buffer | null {
  const length = readVarInt(cursor)
  if (length === -1) return null
  const end = cursor.at + length
  if (length < 0 || end > cursor.bytes.length) throw new Error('a field that ends behind its record')
  const bytes = cursor.bytes.subarray(cursor.at, end)
  cursor.at = end
  return bytes
}
