import { createRequire } from 'node:module'
import type { HeaderValue } from '../types.ts'

/** The part of kafkajs's Encoder that records, and requests in the flexible encoding (KIP-482), are written with. */
export type Encoder = {
  writeInt8(value: number): Encoder
  writeInt32(value: number): Encoder
  writeInt64(value: number | string): Encoder
  writeBoolean(value: boolean): Encoder
  writeUVarInt(value: number): Encoder
  writeUVarIntString(value: string): Encoder
  writeUVarIntArray(value: Encoder[]): Encoder
  writeBufferInternal(value: Buffer): void
  writeVarInt(value: number): Encoder
  writeVarLong(value: number): Encoder
  writeVarIntString(value: string): Encoder
  writeVarIntBytes(value: HeaderValue): Encoder
  writeVarIntArray(values: Encoder[]): Encoder
  writeEncoder(value: Encoder): Encoder
  size(): number
  readonly buffer: Buffer
}

/** The part of kafkajs's Decoder that answers in the flexible encoding are read with. */
export type Decoder = {
  readInt16(): number
  readInt32(): number
  readInt64(): bigint
  readBoolean(): boolean
  readBytes(length: number): Buffer
  readUVarInt(): number
  readUVarIntString(): string | null
  readUVarIntArray<T>(read: () => T): T[] | null
}

const require = createRequire(import.meta.url)
export const Encoder: new () => Encoder = require('kafkajs/src/protocol/encoder.js')
export const Decoder: new (data: Buffer) => Decoder = require('kafkajs/src/protocol/decoder.js')

/** Writes a topic id, given as 32 hexadecimal digits. */
export function writeId(to: Encoder, id: string): Encoder {
  to.writeBufferInternal(Buffer.from(id, 'hex'))
  return to
}

export const readId = (from: Decoder): string => from.readBytes(16).toString('hex')

/** Reads a COMPACT_NULLABLE_BYTES; null as empty. kafkajs 2.2.4's readUVarIntBytes returns one byte too many. */
export const readCompactBytes = (from: Decoder): Buffer => from.readBytes(Math.max(0, from.readUVarInt() - 1))

/** Skips tagged fields. kafkajs 2.2.4's readTaggedFields skips one byte too few of each. */
export function skipTaggedFields(from: Decoder): void {
  for (let left = from.readUVarInt(); left > 0; left--) {
    from.readUVarInt() // tag
    from.readBytes(from.readUVarInt())
  }
}
