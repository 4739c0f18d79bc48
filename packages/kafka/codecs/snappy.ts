import snappyjs from 'snappyjs'
import type { Codec } from './index.ts'

/** The Java client frames Snappy as the xerial library does: this magic, two versions, then blocks with their length. */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const HEADER = Buffer.concat([MAGIC, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])])
const BLOCK_BYTES = 32 * 1024

/** Snappy: written in xerial's frame, read with or without it (librdkafka and its children write none). */
export const snappy: Codec = {
  compress(bytes) {
    const parts: Buffer[] = [HEADER]
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const block = snappyjs.compress(bytes.subarray(at, at + BLOCK_BYTES))
      const length = Buffer.alloc(4)
      length.writeUInt32BE(block.length)
      parts.push(length, block)
    }
    return Buffer.concat(parts)
  },
  decompress(bytes) {
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return snappyjs.uncompress(bytes)
    const blocks: Buffer[] = []
    for (let at = HEADER.length; at < bytes.length; ) {
      const length = bytes.readUInt32BE(at)
      if (at + 4 + length > bytes.length) throw new Error('a Snappy block ends behind its batch')
      blocks.push(snappyjs.uncompress(bytes.subarray(at + 4, at + 4 + length)))
      at += 4 + length
    }
    return Buffer.concat(blocks)
  },
}
