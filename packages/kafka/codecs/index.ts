import { lz4 } from './lz4.ts'
import { snappy } from './snappy.ts'
import { zstd } from './zstd.ts'

/** How kafkajs wants a codec: bytes of a record batch in and out. */
export type Codec = { compress(bytes: Buffer): Buffer; decompress(bytes: Buffer): Buffer }

type KafkajsCodec = () => {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>
  decompress(bytes: Buffer): Promise<Buffer>
}

/**
 * Gives kafkajs the codecs that it names but does not ship: it throws at a Snappy, LZ4 or ZSTD batch, and any producer
 * of the upstream may send one. GZIP it has.
 */
export function registerCodecs(
  codecs: Record<number, unknown>,
  types: { Snappy: number; LZ4: number; ZSTD: number },
): void {
  codecs[types.Snappy] = kafkajsCodec(snappy)
  codecs[types.LZ4] = kafkajsCodec(lz4)
  codecs[types.ZSTD] = kafkajsCodec(zstd)
}

function kafkajsCodec(codec: Codec): KafkajsCodec {
  return () => ({
    compress: async encoder => codec.compress(encoder.buffer),
    decompress: async bytes => codec.decompress(bytes),
  })
}
