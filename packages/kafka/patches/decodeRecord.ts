import type { RecordHeaders } from '../types.ts'

/** What of kafkajs's Decoder is used here. */
type Decoder = {
  buffer: Buffer
  offset: number
  readInt8(): number
  readVarInt(): number
  readVarLong(): { toString(): string }
  readVarIntBytes(): Buffer | null
  readVarIntString(): string
}

type BatchContext = {
  firstOffset: string
  firstTimestamp: string
  maxTimestamp: string
  magicByte: number
  isControlBatch?: boolean
  timestampType: number
}

const LOG_APPEND_TIME = 1

/**
 * Decodes one record in the place of kafkajs 2.2.4's decoder, which folds headers into a plain object and so takes
 * `toString`, `constructor` or `__proto__` for keys that were there before, and which makes a BigInt for each offset and
 * timestamp (a third of the time of reading a batch).
 */
export function decodeRecord(decoder: Decoder, batch: BatchContext): object {
  const attributes = decoder.readInt8()
  const timestampDelta = readVarLong(decoder)
  const offsetDelta = decoder.readVarInt()
  const key = decoder.readVarIntBytes()
  const value = decoder.readVarIntBytes()
  return {
    magicByte: batch.magicByte,
    attributes,
    timestamp:
      batch.timestampType === LOG_APPEND_TIME
        ? batch.maxTimestamp
        : String(Number(batch.firstTimestamp) + timestampDelta),
    offset: String(Number(batch.firstOffset) + offsetDelta),
    key,
    value,
    headers: readHeaders(decoder),
    isControlRecord: batch.isControlBatch ?? false,
    batchContext: batch,
  }
}

/** Of all records without headers, most of all; one object without a prototype for each is a hash table of its own. */
const noHeaders: Readonly<RecordHeaders> = Object.freeze(Object.create(null))

function readHeaders(decoder: Decoder): Readonly<RecordHeaders> {
  const count = decoder.readVarInt()
  if (count === 0) return noHeaders
  const headers: RecordHeaders = Object.create(null)
  for (let i = 0; i < count; i++) {
    const key = decoder.readVarIntString()
    const value = decoder.readVarIntBytes()
    const known = headers[key]
    if (known === undefined) headers[key] = value
    else if (Array.isArray(known)) known.push(value)
    else headers[key] = [known, value]
  }
  return headers
}

/** Up to four bytes are read as a 32-bit number, which the distance between two records of a batch nearly always is. */
function readVarLong(decoder: Decoder): number {
  const { buffer, offset } = decoder
  for (let i = 0; i < 4; i++) if (((buffer[offset + i] ?? 0) & 0x80) === 0) return decoder.readVarInt()
  return Number(decoder.readVarLong().toString())
}
