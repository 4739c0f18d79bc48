import { copyBack } from './codec.ts'

/** How far back a copy may refer: encoders never refer farther than 64 KiB, though the format allows it. */
const historyBytes = 1024 * 1024
const pieceBytes = 256 * 1024
const longestCopy = 64

/** The read position in a block: its next byte, and how much of a literal is left to copy. */
type Reading = { read: number; literal: number }

/** Unpacks one Snappy block piece by piece. Throws if it is damaged. */
export function* unpackBlock(block: Buffer): Generator<Buffer> {
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
