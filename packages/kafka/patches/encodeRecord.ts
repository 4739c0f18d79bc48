import { Encoder } from '../client/flexible.ts'
import type { HeaderValue, RecordHeaders } from '../types.ts'

/** One record as kafkajs's produce request hands it over; the deltas are from the batch's first. */
type RecordToEncode = {
  offsetDelta: number
  timestampDelta: number
  key: HeaderValue
  value: HeaderValue
  headers?: RecordHeaders
}

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
