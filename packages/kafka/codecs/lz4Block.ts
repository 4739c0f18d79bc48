import { copyBack } from './codec.ts'

/**
 * Unpacks one LZ4 block into `to`, after earlier blocks, which it may refer back to. Returns where it ends in `to`.
 * Throws if the block is damaged or does not fit into `to`.
 */
export function unpackBlock(from: Buffer, to: Buffer, start: number, end: number): number {
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
