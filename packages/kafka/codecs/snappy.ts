import { type Codec, joinAtMost } from './codec.ts'
import { unpackBlock } from './snappyBlock.ts'

/** The Java client frames Snappy as the xerial library does: this magic, two versions, then blocks with a length. */
const magic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const headerBytes = magic.length + 8

/** Snappy, with or without xerial's frame (librdkafka and its children write none). */
export const snappy: Codec = {
  unpackAtMost: (bytes, limit) => joinAtMost(unpack(bytes), limit),
  unpack,
}

function* unpack(bytes: Buffer): Generator<Buffer> {
  if (!beginsFrame(bytes, 0)) return yield* unpackBlock(bytes)
  for (let at = headerBytes; at < bytes.length; ) {
    // Another frame may follow: its magic is at the position of the next block's length.
    if (beginsFrame(bytes, at)) {
      at += headerBytes
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
