import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Codec } from './index.ts'

/** Zstandard, by Node itself. */
export const zstd: Codec = {
  compress: bytes => zstdCompressSync(bytes),
  decompress: bytes => zstdDecompressSync(bytes),
}
