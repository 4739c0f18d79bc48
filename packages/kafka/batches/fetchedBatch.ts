import { crc32c } from '@node-rs/crc32'
import { UndecodableBatchError } from '../errors.ts'
import type { AbortedTransaction, Answered } from '../log/fetch.ts'

/**
 * One partition of a fetch. Its entries are still compressed: readParts.ts unpacks them, in bounded memory.
 *
 * A fetch with nothing but control records or records of aborted transactions is one, too: without it, the next batch
 * would begin after the stored offset, and the caller would see a gap.
 */
export class FetchedBatch {
  readonly topic: string
  readonly partition: number
  /** With which it was fetched; none if it was fetched by name. */
  readonly topicId: string | undefined
  /** The requested offset. */
  readonly from: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly bytes: Buffer
  readonly abortedTransactions: AbortedTransaction[]
  readonly entries: Entry[] = []
  /** The error that ended the entries early, if one did. */
  readonly damage: unknown

  /** `from`: the offset that was asked for. */
  constructor(answered: Omit<Answered, 'errorCode'>, from: number) {
    this.topic = answered.topic
    this.partition = answered.partition
    this.topicId = answered.topicId
    this.from = from
    this.highWatermark = answered.highWatermark
    this.lastStableOffset = answered.lastStableOffset
    this.abortedTransactions = answered.abortedTransactions
    this.bytes = answered.messages
    try {
      for (const entry of entriesOf(this)) this.entries.push(entry)
    } catch (error) {
      this.damage = error
    }
  }

  get isEmpty(): boolean {
    return this.entries.length === 0 && this.damage === undefined
  }

  /** The offset to fetch next. */
  get next(): number {
    return this.entries.at(-1)?.next ?? this.from
  }
}

/** A record batch (format 2, Kafka 0.11) with its records still compressed. */
export type Entry = {
  bytes: Buffer
  firstOffset: number
  /** The offset after it. */
  next: number
}

const offsetAndLengthBytes = 12
const magicAt = 16
const lastOffsetDeltaAt = 23
/** The size of a batch without records. */
const smallestBatchBytes = 61

/**
 * The complete entries of a fetch that reach its offset, in order. The last one may be cut off and is fetched again;
 * the first one never is. Throws UndecodableBatchError if an entry's frame is invalid; entries after it cannot be
 * found.
 *
 * An entry beyond the high watermark is invalid, because no checksum covers its offset. But a broker reports the
 * watermark from before its read, so an entry that was appended in between lies beyond it as well: only a second fetch
 * tells (see isFirstReport).
 */
function* entriesOf(fetched: FetchedBatch): Generator<Entry> {
  const { bytes, highWatermark } = fetched
  let from = fetched.from
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at
    const length = left < smallestBatchBytes ? left + 1 : offsetAndLengthBytes + bytes.readInt32BE(at + 8)
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
  if (bytes.length < smallestBatchBytes || bytes.readInt8(magicAt) !== 2) return undefined
  const firstOffset = Number(bytes.readBigInt64BE(0))
  return { bytes, firstOffset, next: firstOffset + bytes.readInt32BE(lastOffsetDeltaAt) + 1 }
}

const crcAt = 17
const attributesAt = 21

/** Whether a record batch matches its checksum; kafkajs never checks. */
export function isIntact({ bytes }: Entry): boolean {
  return crc32c(bytes.subarray(attributesAt)) === bytes.readUInt32BE(crcAt)
}

export function undecodable(
  { topic, partition }: FetchedBatch,
  { from, to }: { from: number; to: number },
  why: string,
  cause?: unknown,
): UndecodableBatchError {
  return new UndecodableBatchError({ topic, partition, from, to: Math.max(to, from + 1) }, why, cause)
}

/**
 * Whether a batch could not be decoded for the first time at this offset; `suspected` is the offset at which the fetch
 * before failed. The caller fetches it again before it reports damage: the batch may have been appended during the
 * fetch, or damaged on its way.
 */
export function isFirstReport(error: unknown, suspected: number | undefined): error is UndecodableBatchError {
  return error instanceof UndecodableBatchError && error.from !== suspected
}
