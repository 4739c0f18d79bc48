import { createRequire } from 'node:module'
import { crc32c } from '@node-rs/crc32'
import { packers } from '../codecs/testing.ts'
import type { AbortedTransaction } from '../log/fetch.ts'
import { encodeRecord } from '../patches/encodeRecord.ts'
import type { KafkaRecord, RecordHeaders } from '../types.ts'
import { FetchedBatch } from './fetchedBatch.ts'
import { readParts } from './readParts.ts'

const require = createRequire(import.meta.url)
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0/index.js')
const Long = require('kafkajs/src/utils/long.js')
const headerBytes = 61
const crcAt = 17
const attributesAt = 21

type Sent = { key?: Buffer | null; value: Buffer | string | null; headers?: RecordHeaders }
export type SentBatch = {
  firstOffset: number
  records: Sent[]
  /** The number of a codec; 0 packs nothing. */
  compression?: number
  /** Used instead of the codec's output. */
  pack?: (records: Buffer) => Buffer
  producerId?: number
}

/** A record batch as a log stores it. */
export async function batchBytes(batch: SentBatch): Promise<Buffer> {
  const { firstOffset, records, compression = 0, pack, producerId = -1 } = batch
  const { buffer }: { buffer: Buffer } = await RecordBatch({
    producerId: Long.fromValue(producerId),
    lastOffsetDelta: records.length - 1,
    firstTimestamp: 1_788_636_667_000,
    maxTimestamp: 1_788_636_667_000,
    records: records.map(({ key = null, value, headers }, offsetDelta) =>
      encodeRecord({ offsetDelta, timestampDelta: 0, key, value, ...(headers && { headers }) }),
    ),
  })
  const packer = pack ?? packers[compression] ?? (records => records)
  const bytes = Buffer.concat([buffer.subarray(0, headerBytes), packer(buffer.subarray(headerBytes))])
  bytes.writeBigInt64BE(BigInt(firstOffset), 0)
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt16BE(bytes.readInt16BE(attributesAt) | compression, attributesAt)
  bytes.writeUInt32BE(crc32c(bytes.subarray(attributesAt)), crcAt)
  return bytes
}

/** The fetch that returns such bytes from an offset on. */
export function fetchOf(
  bytes: Buffer,
  from = 0,
  abortedTransactions: AbortedTransaction[] = [],
): FetchedBatch {
  const of = { topic: 't', partition: 0, highWatermark: 1_000_000, lastStableOffset: 1_000_000 }
  return new FetchedBatch({ ...of, abortedTransactions, messages: bytes }, from)
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
