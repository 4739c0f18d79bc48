import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGzip, createZstdCompress } from 'node:zlib'
import { inside, kafkajs, topicNames } from '@tally/kafka'
import type { Tally, TopicType } from '@tally/testkit/processes/tally'

const codecs = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const
export type CodecName = keyof typeof codecs

/** A record of a batch: a value, or a number of spaces. */
export type Sent = { key: string; value: Buffer | { spaces: number } }

/** The uncompressed records of a batch, piece by piece, because they may be larger than memory. */
function* recordsOf(records: Sent[]): Generator<Buffer> {
  for (const [index, { key, value }] of records.entries()) {
    const bytes = Buffer.isBuffer(value) ? value.length : value.spaces
    const start = Buffer.from([0, ...varInt(0), ...varInt(index), ...varInt(key.length), ...Buffer.from(key)])
    const length = varInt(bytes)
    yield Buffer.from([...varInt(start.length + length.length + bytes + 1), ...start, ...length])
    if (Buffer.isBuffer(value)) yield value
    else yield* spaces(value.spaces)
    yield Buffer.from(varInt(0))
  }
}

const MEGABYTE_OF_SPACES = Buffer.alloc(1_000_000, ' ')

function* spaces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= MEGABYTE_OF_SPACES.length)
    yield MEGABYTE_OF_SPACES.subarray(0, left)
}

export function sha256OfSpaces(bytes: number): string {
  const hash = createHash('sha256')
  for (const piece of spaces(bytes)) hash.update(piece)
  return hash.digest('hex')
}

function varInt(value: number): number[] {
  const bytes = []
  for (let rest = value < 0 ? value * -2 - 1 : value * 2; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 128)
  }
}

/** Compresses records without ever holding all of them. */
export async function pack(codec: 'gzip' | 'zstd', records: Sent[]): Promise<Buffer> {
  const packer = codec === 'gzip' ? createGzip() : createZstdCompress()
  return buffer(Readable.from(recordsOf(records)).pipe(packer))
}

/** Sends a batch to a partition with the given number of records and compressed bytes. */
export async function sendPacked(
  { kafka, settings }: Tally,
  type: TopicType,
  {
    codec,
    packed,
    count,
    partition = 0,
  }: { codec: CodecName; packed: Buffer; count: number; partition?: number },
): Promise<void> {
  const usual = kafkajs.CompressionCodecs[codecs[codec]]
  kafkajs.CompressionCodecs[codecs[codec]] = () => ({
    compress: async () => packed,
    decompress: async (bytes: Buffer) => bytes,
  })
  const producer = inside(kafka).kafka.producer({ allowAutoTopicCreation: false })
  try {
    await producer.connect()
    await producer.send({
      topic: topicNames(settings.TOPIC_PREFIX ?? '')[type],
      compression: codecs[codec],
      messages: Array.from({ length: count }, () => ({ value: 'in the packed bytes', partition })),
    })
  } finally {
    kafkajs.CompressionCodecs[codecs[codec]] = usual as never
    await producer.disconnect()
  }
}
