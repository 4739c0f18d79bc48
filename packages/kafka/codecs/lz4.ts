import lz4js from 'lz4js'
import xxh32 from 'lz4js/xxh32.js'
import { type Codec, joinAtMost } from './codec.ts'
import { unpackBlock } from './lz4Block.ts'

const frameMagic = 0x184d2204
/** Skippable frames have one of sixteen magic numbers. */
const skippableMagic = 0x184d2a50
/**
 * Version 1, blocks that do not look back into each other (the Java client takes no others), no checksums of blocks.
 */
const frameFlags = 0x60
/** Blocks of at most 64 KiB, as the Java client writes them. */
const blockSizeId = 0x40
const javaBlockBytes = 64 * 1024
const storedBit = 0x80000000
/** How far back a block may refer. */
const historyBytes = 64 * 1024

/**
 * LZ4 in its frame format, one frame or several. Only the compression of a block is lz4js's: in its frames blocks refer
 * to the block before, which Kafka refuses; and it reads only one frame, without bounds, and takes the checksum of a
 * block for the start of the next.
 */
export const lz4: Codec = {
  compress(bytes) {
    const parts = [frameHeader()]
    for (let at = 0; at < bytes.length; at += javaBlockBytes)
      parts.push(frameBlock(bytes.subarray(at, at + javaBlockBytes)))
    parts.push(Buffer.alloc(4))
    return Buffer.concat(parts)
  },
  unpackAtMost: (bytes, limit) => joinAtMost(unpack(bytes), limit),
  unpack,
}

function* unpack(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const magic = bytes.readUInt32LE(at)
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) at += 8 + bytes.readUInt32LE(at + 4)
    else if (magic === frameMagic) at = yield* unpackFrame(bytes, at + 4)
    else throw new Error('bytes that are not an LZ4 frame')
  }
}

/**
 * Unpacks a frame block by block; returns where it ends. It ignores the frame's checksums, because the batch has its
 * own.
 */
function* unpackFrame(bytes: Buffer, start: number): Generator<Buffer, number> {
  const flags = bytes.readUInt8(start)
  const blockBytes = 1 << (8 + 2 * ((bytes.readUInt8(start + 1) >> 4) & 7))
  const [isVersion1, hasBlockSums, hasSize, hasSum, hasDictionary] = [
    flags >> 6 === 1,
    (flags & 16) > 0,
    (flags & 8) > 0,
    (flags & 4) > 0,
    (flags & 1) > 0,
  ]
  if (!isVersion1 || hasDictionary || blockBytes < javaBlockBytes)
    throw new Error('an LZ4 frame of an unknown kind')
  let at = start + 3 + (hasSize ? 8 : 0)
  const window = Buffer.allocUnsafe(historyBytes + blockBytes)
  let kept = 0
  for (;;) {
    const word = bytes.readUInt32LE(at)
    at += 4
    if (word === 0) return at + (hasSum ? 4 : 0)
    const length = word & 0x7fffffff
    if (at + length > bytes.length) throw new Error('an LZ4 block ends behind its batch')
    const block = bytes.subarray(at, at + length)
    const end =
      word >= storedBit
        ? store(block, window, kept, kept + blockBytes)
        : unpackBlock(block, window, kept, kept + blockBytes)
    yield window.subarray(kept, end)
    kept = Math.min(end, historyBytes)
    window.copyWithin(0, end - kept, end)
    at += length + (hasBlockSums ? 4 : 0)
  }
}

function store(block: Buffer, window: Buffer, at: number, end: number): number {
  if (at + block.length > end) throw new Error('an LZ4 block that is larger than its frame allows')
  return at + block.copy(window, at)
}

function frameHeader(): Buffer {
  const descriptor = Uint8Array.of(frameFlags, blockSizeId)
  const checksum = (xxh32.hash(0, descriptor, 0, descriptor.length) >> 8) & 0xff
  return Buffer.from([0x04, 0x22, 0x4d, 0x18, frameFlags, blockSizeId, checksum])
}

/** One block with its length before it; stored as it is where compressing it gains nothing. */
function frameBlock(plain: Buffer): Buffer {
  const packed = Buffer.alloc(lz4js.compressBound(plain.length))
  const size = lz4js.compressBlock(plain, packed, 0, plain.length, new Uint32Array(1 << 16))
  const gains = size > 0 && size < plain.length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(gains ? size : (storedBit | plain.length) >>> 0)
  return Buffer.concat([length, gains ? packed.subarray(0, size) : plain])
}
