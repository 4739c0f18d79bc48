import { createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import { type Codec, freedPieces, pieceOptions } from './codec.ts'

/** What Node's `info` option adds: how much of the bytes was read. */
type WithInfo = { buffer: Buffer; engine: { bytesWritten: number } }

/** Zstandard by Node's own zlib, which stops silently after the first of several frames: this goes on with the next. */
export const zstd: Codec = {
  unpackAtMost(bytes, limit) {
    const frames: Buffer[] = []
    let left = limit
    for (let at = 0; at < bytes.length; ) {
      const frame = unpackFrame(bytes.subarray(at), left)
      if (frame === undefined) return undefined
      frames.push(frame.buffer)
      left -= frame.buffer.length
      at += readBytes(frame.engine.bytesWritten)
    }
    return frames.length === 1 ? frames[0] : Buffer.concat(frames)
  },
  async *unpack(bytes) {
    for (let at = 0; at < bytes.length; ) {
      const frame = createZstdDecompress(pieceOptions).end(bytes.subarray(at))
      yield* freedPieces(frame)
      at += readBytes(frame.bytesWritten)
    }
  },
}

function unpackFrame(bytes: Buffer, limit: number): WithInfo | undefined {
  try {
    const options = { info: true, maxOutputLength: Math.max(limit, 1) }
    return zstdDecompressSync(bytes, options) as unknown as WithInfo
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

function readBytes(count: number): number {
  if (count === 0) throw new Error('bytes that are not a Zstandard frame')
  return count
}
