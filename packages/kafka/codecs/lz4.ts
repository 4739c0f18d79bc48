import { type Codec, copyBack, joinAtMost } from './codec.ts'

const frameMagic = 0x184d2204
/** Skippable frames have one of sixteen magic numbers. */
const skippableMagic = 0x184d2a50
/** The smallest of the block sizes that a frame may name. */
const smallestBlockBytes = 64 * 1024
const storedBit = 0x80000000
/** How far back a block may refer. */
const historyBytes = 64 * 1024

/**
 * LZ4 in its frame format, one frame or several. lz4js reads only one frame, without bounds, and takes the checksum of
 * a block for the start of the next.
 */
export const lz4: Codec = {
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

/** Unpacks a frame block by block; returns its end. Ignores the frame's checksums: the batch has its own. */
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
  if (!isVersion1 || hasDictionary || blockBytes < smallestBlockBytes)
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

/**
 * Unpacks one LZ4 block into `to`, after earlier blocks, which it may refer back to. Returns where it ends in `to`.
 * Throws if the block is damaged or does not fit into `to`.
 */
function unpackBlock(from: Buffer, to: Buffer, start: number, end: number): number {
  let at = start
  for (let read = 0; ; ) {
    const token = byteAt(from, read++)
    let literals = token >> 4
    if (literals === 15) [literals, read] = longer(from, read, 15)
    if (read + literals > from.length || at + literals > end) throw damaged()
    if (literals < 32) for (let i = 0; i < literals; i++) to[at + i] = from[read + i] as number
    else from.copy(to, at, read, read + literals)
    at += literals
    read += literals
    if (read === from.length) return at
    const offset = byteAt(from, read) | (byteAt(from, read + 1) << 8)
    read += 2
    let length = token & 15
    if (length === 15) [length, read] = longer(from, read, 15)
    length += 4
    if (offset === 0 || offset > at || at + length > end) throw damaged()
    copyBack(to, at, offset, length)
    at += length
  }
}

/** A length that continues in more bytes, up to the first that is not 255; and where it ends. */
function longer(from: Buffer, start: number, begun: number): [length: number, read: number] {
  let length = begun
  for (let read = start; ; ) {
    const more = byteAt(from, read++)
    length += more
    if (more !== 255) return [length, read]
  }
}

function byteAt(from: Buffer, at: number): number {
  const byte = from[at]
  if (byte === undefined) throw damaged()
  return byte
}

const damaged = () => new Error('a damaged LZ4 block')
