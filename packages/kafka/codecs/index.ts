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
