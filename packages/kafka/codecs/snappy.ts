import snappyjs from 'snappyjs'
import { type Codec, joinAtMost } from './codec.ts'
import { unpackBlock } from './snappyBlock.ts'

/**
 * The Java client frames Snappy as the xerial library does: this magic, two versions, then blocks with their length.
 */
const magic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const header = Buffer.concat([magic, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])])
const blockBytes = 32 * 1024

/** Snappy: written in xerial's frame, read with or without it (librdkafka and its children write none). */
export const snappy: Codec = {
  compress(bytes) {
    const parts: Buffer[] = [header]
    for (let at = 0; at < bytes.length; at += blockBytes) {
      const block = snappyjs.compress(bytes.subarray(at, at + blockBytes))
      const length = Buffer.alloc(4)
      length.writeUInt32BE(block.length)
      parts.push(length, block)
    }
    return Buffer.concat(parts)
  },
  unpackAtMost: (bytes, limit) => joinAtMost(unpack(bytes), limit),
  unpack,
}

function* unpack(bytes: Buffer): Generator<Buffer> {
  if (!beginsFrame(bytes, 0)) return yield* unpackBlock(bytes)
  for (let at = header.length; at < bytes.length; ) {
    // Another frame may follow: its magic is at the position of the next block's length.
    if (beginsFrame(bytes, at)) {
      at += header.length
      continue
    }
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw new Error('a Snappy block ends behind its batch')
    yield* unpackBlock(bytes.subarray(at + 4, end))
    at = end
  }
}

const beginsFrame = (bytes: Buffer, at: number): boolean =>
  bytes.subarray(at, at + magic.length).equals(magic)
