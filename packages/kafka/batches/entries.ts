import { crc32c } from '@node-rs/crc32'
import { UndecodableBatchError } from '../errors.ts'

/** A record batch, or one message or compressed message set of before Kafka 0.11, with the bytes of its records packed. */
export type Entry = {
  bytes: Buffer
  /** 2 for a record batch. */
  magic: number
  firstOffset: number
  /** The offset after it. */
  next: number
}

/** What a fetch brought of a partition: bytes, which are looked at no closer than entry by entry. */
export type Fetched = {
  topic: string
  partition: number
  /** The offset that was asked for. */
  from: number
  highWatermark: number
  bytes: Buffer
}

const OFFSET_AND_LENGTH_BYTES = 12
const MAGIC_AT = 16
const LAST_OFFSET_DELTA_AT = 23
/** Of a batch without records, and of a message without key and value. */
const SMALLEST_BATCH_BYTES = 61
const SMALLEST_MESSAGE_BYTES = 26

/**
 * The whole entries of a fetch that are not all before its offset, in order. A fetch may cut off the last one, which comes
 * again; never the first. Throws UndecodableBatchError where an entry's frame cannot be right; behind it nothing can be found.
 */
export function* entriesOf(fetched: Fetched): Generator<Entry> {
  const { bytes, highWatermark } = fetched
  let from = fetched.from
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at
    const length =
      left < SMALLEST_MESSAGE_BYTES ? left + 1 : OFFSET_AND_LENGTH_BYTES + bytes.readInt32BE(at + 8)
    if (length > left && at > 0) return
    const entry = length > left ? undefined : readEntry(bytes.subarray(at, at + length))
    if (entry === undefined || (entry.next > from && entry.next > highWatermark))
      throw undecodable(fetched, { from, to: from + 1 }, 'its length, format or offset is damaged')
    at += length
    if (entry.next <= from) continue
    yield entry
    from = entry.next
  }
}

function readEntry(bytes: Buffer): Entry | undefined {
  if (bytes.length < SMALLEST_MESSAGE_BYTES) return undefined
  const firstOffset = Number(bytes.readBigInt64BE(0))
  const magic = bytes.readInt8(MAGIC_AT)
  if (magic === 0 || magic === 1) return { bytes, magic, firstOffset, next: firstOffset + 1 }
  if (magic !== 2 || bytes.length < SMALLEST_BATCH_BYTES) return undefined
  return { bytes, magic, firstOffset, next: firstOffset + bytes.readInt32BE(LAST_OFFSET_DELTA_AT) + 1 }
}

const CRC_AT = 17
const ATTRIBUTES_AT = 21

/** Whether a record batch is as it was written; kafkajs never looks. */
export function isIntact({ bytes }: Entry): boolean {
  return crc32c(bytes.subarray(ATTRIBUTES_AT)) === bytes.readUInt32BE(CRC_AT)
}

export function undecodable(
  { topic, partition }: Fetched,
  { from, to }: { from: number; to: number },
  why: string,
  cause?: unknown,
): UndecodableBatchError {
  return new UndecodableBatchError({ topic, partition, from, to: Math.max(to, from + 1) }, why, cause)
}
