import { createRequire } from 'node:module'
import type { HeaderValue, RecordHeaders } from '../types.ts'

/** One record as kafkajs's produce request hands it over; the deltas are from the batch's first. */
type RecordToEncode = {
  offsetDelta: number
  timestampDelta: number
  key: HeaderValue
  value: HeaderValue
  headers?: RecordHeaders
}

/** The part of kafkajs's Encoder that a record is written with. */
type Encoder = {
  writeInt8(value: number): Encoder
  writeVarInt(value: number): Encoder
  writeVarLong(value: number): Encoder
  writeVarIntString(value: string): Encoder
  writeVarIntBytes(value: HeaderValue): Encoder
  writeVarIntArray(values: Encoder[]): Encoder
  writeEncoder(value: Encoder): Encoder
  size(): number
  readonly buffer: Buffer
}

const Encoder: new () => Encoder = createRequire(import.meta.url)('kafkajs/src/protocol/encoder.js')

/**
 * Encodes a record (format 2). It replaces kafkajs 2.2.4's function, which computes the size in advance and throws for
 * a header whose value is null. This one encodes the record first and then writes its size.
 */
export function encodeRecord({
  timestampDelta,
  offsetDelta,
  key,
  value,
  headers = {},
}: RecordToEncode): Encoder {
  const fields = Object.entries(headers).flatMap(([name, values = null]) =>
    (Array.isArray(values) ? values : [values]).map(one =>
      new Encoder().writeVarIntString(name).writeVarIntBytes(one),
    ),
  )
  const record = new Encoder()
    .writeInt8(0) // attributes
    .writeVarLong(timestampDelta)
    .writeVarInt(offsetDelta)
    .writeVarIntBytes(key)
    .writeVarIntBytes(value)
    .writeVarIntArray(fields)
  return new Encoder().writeVarInt(record.size()).writeEncoder(record)
}
