import lz4js from 'lz4js'
import xxh32 from 'lz4js/xxh32.js'
import type { Codec } from './index.ts'

/** Version 1, blocks that do not look back into each other (the Java client takes no others), no checksums of blocks. */
const FLAGS = 0x60
/** Blocks of at most 64 KiB, as the Java client writes them. */
const BLOCK_SIZE_ID = 0x40
const BLOCK_BYTES = 64 * 1024
const STORED = 0x80000000

/**
 * LZ4 in its frame format. Reading is lz4js's; the frame is written here, because the one that lz4js writes has blocks
 * that look back into the block before, which Kafka refuses.
 */
export const lz4: Codec = {
  compress(bytes) {
    const parts = [frameHeader()]
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES)
      parts.push(frameBlock(bytes.subarray(at, at + BLOCK_BYTES)))
    parts.push(Buffer.alloc(4))
    return Buffer.concat(parts)
  },
  decompress(bytes) {
    return Buffer.from(lz4js.decompress(bytes))
  },
}

function frameHeader(): Buffer {
  const descriptor = Uint8Array.of(FLAGS, BLOCK_SIZE_ID)
  const checksum = (xxh32.hash(0, descriptor, 0, descriptor.length) >> 8) & 0xff
  return Buffer.from([0x04, 0x22, 0x4d, 0x18, FLAGS, BLOCK_SIZE_ID, checksum])
}

/** One block with its length before it; stored as it is where compressing it gains nothing. */
function frameBlock(plain: Buffer): Buffer {
  const packed = Buffer.alloc(lz4js.compressBound(plain.length))
  const size = lz4js.compressBlock(plain, packed, 0, plain.length, new Uint32Array(1 << 16))
  const gains = size > 0 && size < plain.length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(gains ? size : (STORED | plain.length) >>> 0)
  return Buffer.concat([length, gains ? packed.subarray(0, size) : plain])
}
