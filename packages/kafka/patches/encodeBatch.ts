import { crc32c } from '@node-rs/crc32'
import type { HeaderValue, RecordHeaders } from '../types.ts'

/** One record as kafkajs's produce request hands it over; the deltas are from the batch's first. */
type RecordToEncode = {
  offsetDelta: number
  timestampDelta: number
  key: HeaderValue
  value: HeaderValue
  headers?: RecordHeaders
}

/** A batch of kafkajs's produce request; the producer's id, epoch and sequence are set only if it is idempotent. */
type BatchToEncode = {
  compression?: number
  transactional?: boolean
  lastOffsetDelta: number
  firstTimestamp: number
  maxTimestamp: number
  producerId?: { toString(): string }
  producerEpoch?: number
  firstSequence?: number
  records: RecordToEncode[]
}

/** What kafkajs accepts in place of its own encoder when it writes the request. */
type Encoded = { buf: Buffer; buffer: Buffer; size(): number }

type Compress = (compression: number, records: Buffer) => Promise<Buffer>

/** The batch format that is written and read here. */
export const magicByte = 2
const headerBytes = 61
const transactionalBit = 16
/** Position of the checksum, which covers everything after it. */
const crcAt = 17
const attributesAt = 21

/**
 * Encodes a record batch (format 2) instead of kafkajs 2.2.4, which throws at a header whose value is null, allocates a
 * Buffer for each length and each record, copies them five times and computes the checksum byte by byte: a dead letter
 * cost more than a good record.
 */
export function encodeBatch(compress: Compress) {
  return async ({
    compression = 0,
    transactional = false,
    lastOffsetDelta,
    firstTimestamp,
    maxTimestamp,
    producerId = '-1',
    producerEpoch = 0,
    firstSequence = 0,
    records,
  }: BatchToEncode): Promise<Encoded> => {
    const plain = encodeRecords(records, headerBytes)
    const buf = compression === 0 ? plain : await compressed(plain, records => compress(compression, records))
    buf.writeBigInt64BE(0n, 0) // base offset: set by the broker
    buf.writeInt32BE(buf.length - 12, 8)
    buf.writeInt32BE(0, 12) // partition leader epoch
    buf.writeInt8(magicByte, 16)
    buf.writeInt16BE(compression | (transactional ? transactionalBit : 0), attributesAt)
    buf.writeInt32BE(lastOffsetDelta, 23)
    buf.writeBigInt64BE(BigInt(firstTimestamp), 27)
    buf.writeBigInt64BE(BigInt(maxTimestamp), 35)
    buf.writeBigInt64BE(BigInt(String(producerId)), 43)
    buf.writeInt16BE(producerEpoch, 51)
    buf.writeInt32BE(firstSequence, 53)
    buf.writeInt32BE(records.length, 57)
    buf.writeUInt32BE(crc32c(buf.subarray(attributesAt)), crcAt)
    return { buf, buffer: buf, size: () => buf.length }
  }
}

async function compressed(plain: Buffer, compress: (records: Buffer) => Promise<Buffer>): Promise<Buffer> {
  return Buffer.concat([plain.subarray(0, headerBytes), await compress(plain.subarray(headerBytes))])
}

/** The records as bytes, with room before them. */
function encodeRecords(records: RecordToEncode[], room: number): Buffer {
  // Of all records, one after the other: key, value, then name and value of each header.
  const parts: HeaderValue[] = []
  const ends: number[] = []
  const lengths: number[] = []
  const sizes: number[] = []
  let bytes = 0
  for (const record of records) {
    const first = parts.length
    pushParts(record, parts)
    let size = 1 + sizeOfVarInt(record.timestampDelta) + sizeOfVarInt(record.offsetDelta)
    size += sizeOfVarInt((parts.length - first) / 2 - 1)
    for (let i = first; i < parts.length; i++) {
      const length = lengthOf(parts[i])
      lengths.push(length)
      size += sizeOfVarInt(length) + Math.max(length, 0)
    }
    ends.push(parts.length)
    sizes.push(size)
    bytes += sizeOfVarInt(size) + size
  }
  const to = Buffer.allocUnsafe(room + bytes)
  let at = room
  let part = 0
  for (const [index, { timestampDelta, offsetDelta }] of records.entries()) {
    const end = ends[index] as number
    const headers = (end - part) / 2 - 1
    at = writeVarInt(to, at, sizes[index] as number)
    to[at++] = 0 // attributes
    at = writeVarInt(to, at, timestampDelta)
    at = writeVarInt(to, at, offsetDelta)
    at = writeBytes(to, at, parts[part], lengths[part++])
    at = writeBytes(to, at, parts[part], lengths[part++])
    at = writeVarInt(to, at, headers)
    while (part < end) at = writeBytes(to, at, parts[part], lengths[part++])
  }
  return to
}

function pushParts({ key, value, headers }: RecordToEncode, parts: HeaderValue[]): void {
  parts.push(key, value)
  for (const name in headers) {
    const values = headers[name] ?? null
    if (Array.isArray(values)) for (const one of values) parts.push(name, one)
    else parts.push(name, values)
  }
}

/** In bytes; -1 stands for null. */
function lengthOf(bytes: HeaderValue | undefined): number {
  return bytes === null || bytes === undefined ? -1 : Buffer.byteLength(bytes)
}

/** Zigzag, seven bits a byte; in doubles, because the distance of two timestamps may need more than 32 bits. */
function zigzag(value: number): number {
  return value < 0 ? value * -2 - 1 : value * 2
}

function sizeOfVarInt(value: number): number {
  let size = 1
  for (let rest = zigzag(value); rest >= 128; rest = Math.floor(rest / 128)) size++
  return size
}

function writeVarInt(to: Buffer, at: number, value: number): number {
  let rest = zigzag(value)
  for (; rest >= 128; rest = Math.floor(rest / 128)) to[at++] = (rest % 128) | 128
  to[at++] = rest
  return at
}

function writeBytes(to: Buffer, at: number, bytes: HeaderValue | undefined, length = -1): number {
  const start = writeVarInt(to, at, length)
  if (bytes === null || bytes === undefined) return start
  if (typeof bytes !== 'string') to.set(bytes, start)
  else if (bytes.length === length && length < 64) writeAscii(to, start, bytes)
  else to.write(bytes, start, length, 'utf8')
  return start + length
}

/** For a short text, such as a header's name, this is faster than a call into Node. */
function writeAscii(to: Buffer, start: number, text: string): void {
  for (let i = 0; i < text.length; i++) to[start + i] = text.charCodeAt(i)
}
