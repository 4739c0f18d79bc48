/** How the records of a batch are packed. */
export type Codec = {
  /** Unpacks, or returns undefined if the result would exceed `limit` bytes. Throws if the bytes cannot be unpacked. */
  unpackAtMost(bytes: Buffer, limit: number): Buffer | undefined | Promise<Buffer | undefined>
  /** Unpacks in bounded memory; a piece is valid until the next is requested. Throws if bytes cannot be unpacked. */
  unpack(bytes: Buffer): Iterable<Buffer> | AsyncIterable<Buffer>
}

/** The size of the pieces that zlib unpacks. */
export const pieceOptions = { chunkSize: 256 * 1024 }

/**
 * What a stream of zlib unpacks. The memory of each piece is freed as soon as the next one is requested: left to the
 * garbage collector, the pieces of 900 MB cost 25 full collections, which took twice as long as everything else.
 */
export async function* freedPieces(stream: AsyncIterable<Buffer<ArrayBuffer>>): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    yield piece
    // Until a buffer is full, zlib goes on writing to it.
    if (piece.byteOffset + piece.length === piece.buffer.byteLength) piece.buffer.transfer(0)
  }
}

/** Joins pieces; undefined if they exceed `limit` bytes. */
export function joinAtMost(pieces: Iterable<Buffer>, limit: number): Buffer | undefined {
  const kept: Buffer[] = []
  let bytes = 0
  for (const piece of pieces) {
    bytes += piece.length
    if (bytes > limit) return undefined
    kept.push(Buffer.from(piece))
  }
  return kept.length === 1 ? kept[0] : Buffer.concat(kept)
}

/** Copies bytes that were unpacked before, as LZ4 and Snappy define it: source and target may overlap, to repeat. */
export function copyBack(to: Buffer, at: number, offset: number, length: number): void {
  const from = at - offset
  if (length < 48) {
    for (let i = 0; i < length; i++) to[at + i] = to[from + i] as number
    return
  }
  // An overlapping copy proceeds in strides that double.
  for (let done = 0; done < length; ) {
    const stride = Math.min(offset + done, length - done)
    to.copyWithin(at + done, from, from + stride)
    done += stride
  }
}
