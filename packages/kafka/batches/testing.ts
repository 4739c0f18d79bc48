import { codecs } from '../codecs/index.ts'
import { encodeBatch } from '../patches/encodeBatch.ts'
import type { KafkaRecord, RecordHeaders } from '../types.ts'
import type { AbortedTransaction } from './aborted.ts'
import { FetchedBatch } from './fetchedBatch.ts'
import { readParts } from './readParts.ts'

type Sent = { key?: Buffer | null; value: Buffer | string | null; headers?: RecordHeaders }
export type SentBatch = {
  firstOffset: number
  records: Sent[]
  /** The number of a codec; 0 packs nothing. */
  compression?: number
  /** Used instead of the codec's output. */
  pack?: (records: Buffer) => Buffer
  producerId?: number
  transactional?: boolean
}

/** A record batch as a log stores it. */
export async function batchBytes(batch: SentBatch): Promise<Buffer> {
  const { firstOffset, records, compression = 0, pack, producerId = -1, transactional = false } = batch
  const encode = encodeBatch(async (number, bytes) => {
    const packed = pack?.(bytes) ?? codecs.get(number)?.compress(bytes)
    if (packed === undefined) throw new Error(`no codec ${number}`)
    return packed
  })
  const { buffer } = await encode({
    compression,
    transactional,
    producerId,
    lastOffsetDelta: records.length - 1,
    firstTimestamp: 1_788_636_667_000,
    maxTimestamp: 1_788_636_667_000,
    records: records.map(({ key = null, value, headers }, offsetDelta) => ({
      offsetDelta,
      timestampDelta: 0,
      key,
      value,
      ...(headers && { headers }),
    })),
  })
  buffer.writeBigInt64BE(BigInt(firstOffset), 0)
  return buffer
}

/** The fetch that returns such bytes from an offset on. */
export function fetchOf(
  bytes: Buffer,
  from = 0,
  abortedTransactions: AbortedTransaction[] = [],
): FetchedBatch {
  const data = { partition: 0, highWatermark: '1000000', abortedTransactions, messages: bytes }
  return new FetchedBatch('t', String(from), data)
}

/** Everything that can be read from a fetch, and the error that ended it. */
export async function readAll(fetched: FetchedBatch) {
  const records: KafkaRecord[] = []
  const parts: { from: number; next: number }[] = []
  try {
    for await (const { from, next, records: some } of readParts(fetched)) {
      records.push(...some)
      parts.push({ from, next })
    }
  } catch (error) {
    return { records, parts, error }
  }
  return { records, parts, error: undefined }
}
