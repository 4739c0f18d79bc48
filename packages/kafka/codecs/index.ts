import type { Codec } from './codec.ts'
import { gzip } from './gzip.ts'
import { lz4 } from './lz4.ts'
import { snappy } from './snappy.ts'
import { zstd } from './zstd.ts'

/** The codecs by their number in a batch's attributes. */
export const codecs: ReadonlyMap<number, Codec> = new Map([
  [1, gzip],
  [2, snappy],
  [3, lz4],
  [4, zstd],
])

/**
 * The limit for what kafkajs itself unpacks: message sets from before Kafka 0.11, which current brokers no longer
 * accept.
 */
const messageSetBytes = 64 * 1024 * 1024

/**
 * Gives kafkajs the codecs that it names but does not ship (it throws on a Snappy, LZ4 or ZSTD batch, and any upstream
 * producer may send one), and a bounded GZIP.
 */
export function registerCodecs(into: Record<number, unknown>): void {
  for (const [number, codec] of codecs) {
    into[number] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => codec.compress(buffer),
      async decompress(bytes: Buffer) {
        const unpacked = await codec.unpackAtMost(bytes, messageSetBytes)
        if (unpacked === undefined) throw new Error('a message set that unpacks to more than 64 MiB')
        return unpacked
      },
    })
  }
}
