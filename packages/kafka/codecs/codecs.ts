import { promisify } from 'node:util'
import { createGunzip, createZstdDecompress, gunzip, zstdDecompressSync } from 'node:zlib'
import type { Codec } from './codec.ts'
import { lz4 } from './lz4.ts'
import { snappy } from './snappy.ts'

const gunzipAll = promisify(gunzip) as (bytes: Buffer, options: object) => Promise<Buffer>

/** Gzip, by Node's own zlib, which reads several members one after the other. */
const gzip: Codec = {
  async unpackAtMost(bytes, limit) {
    try {
      return await gunzipAll(bytes, { maxOutputLength: limit })
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
      throw error
    }
  },
  unpack: bytes => freedPieces(createGunzip(pieceOptions).end(bytes)),
}

/** What Node's `info` option adds: how much of the bytes was read. */
type WithInfo = { buffer: Buffer; engine: { bytesWritten: number } }

/** Zstandard by Node's own zlib, which stops silently after the first of several frames: this goes on with the next. */
const zstd: Codec = {
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

/** The size of the pieces that zlib unpacks. */
const pieceOptions = { chunkSize: 256 * 1024 }

/**
 * What a stream of zlib unpacks. The memory of each piece is freed as soon as the next one is requested: left to the
 * garbage collector, the pieces of 900 MB cost 25 full collections, which took twice as long as everything else.
 */
async function* freedPieces(stream: AsyncIterable<Buffer<ArrayBuffer>>): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    yield piece
    // Until a buffer is full, zlib goes on writing to it.
    if (piece.byteOffset + piece.length === piece.buffer.byteLength) piece.buffer.transfer(0)
  }
}

/** The codecs by their number in a batch's attributes. */
export const codecs: ReadonlyMap<number, Codec> = new Map([
  [1, gzip],
  [2, snappy],
  [3, lz4],
  [4, zstd],
])
