import { type Codec, copyBack, joinAtMost } from './codec.ts'

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

/** How far back a copy may refer: encoders never refer farther than 64 KiB, though the format allows it. */
const historyBytes = 1024 * 1024
const pieceBytes = 256 * 1024
const longestCopy = 64

/** The read position in a block: its next byte, and how much of a literal is left to copy. */
type Reading = { read: number; literal: number }

/** Unpacks one Snappy block piece by piece. Throws if it is damaged. */
function* unpackBlock(block: Buffer): Generator<Buffer> {
  const reading: Reading = { read: 0, literal: 0 }
  let left = readLength(block, reading)
  const window = Buffer.allocUnsafe(Math.min(left, historyBytes + pieceBytes) + longestCopy)
  let at = 0
  while (left > 0) {
    const end = fill(block, reading, window, at, at + Math.min(left, pieceBytes))
    left -= end - at
    if (end === at || left < 0) throw damaged()
    yield window.subarray(at, end)
    at = end
    if (left > 0 && at > historyBytes) {
      window.copyWithin(0, at - historyBytes, at)
      at = historyBytes
    }
  }
  if (reading.read < block.length) throw damaged()
}

/** The unpacked length of the block, seven bits per byte. */
function readLength(block: Buffer, reading: Reading): number {
  let length = 0
  for (let place = 1; ; place *= 128) {
    const byte = block[reading.read++]
    if (byte === undefined || place > 2 ** 28) throw damaged()
    length += (byte & 127) * place
    if (byte < 128) return length
  }
}

/** Unpacks up to `wanted`, at most to the end of the copy that reaches it, or of the block. Returns the position. */
function fill(block: Buffer, reading: Reading, to: Buffer, start: number, wanted: number): number {
  let at = start
  let { read, literal } = reading
  while (at < wanted) {
    if (literal > 0) {
      const length = Math.min(literal, wanted - at, block.length - read)
      if (length === 0) throw damaged()
      if (length < 32) for (let i = 0; i < length; i++) to[at + i] = block[read + i] as number
      else block.copy(to, at, read, read + length)
      at += length
      read += length
      literal -= length
      continue
    }
    const tag = block[read++]
    if (tag === undefined) break
    const kind = tag & 3
    // How many bytes follow the tag, the lowest first.
    const more = kind === 0 ? Math.max(0, (tag >> 2) - 59) : kind === 3 ? 4 : kind
    if (read + more > block.length) throw damaged()
    const following = more === 0 ? 0 : block.readUIntLE(read, more)
    read += more
    if (kind === 0) {
      literal = (more === 0 ? tag >> 2 : following) + 1
      continue
    }
    const length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const offset = kind === 1 ? ((tag >> 5) << 8) | following : following
    if (offset === 0 || offset > at) throw damaged()
    copyBack(to, at, offset, length)
    at += length
  }
  reading.read = read
  reading.literal = literal
  return at
}

const damaged = () => new Error('a damaged Snappy block')
