/** How the records of a batch are packed. */
export type Codec = {
  compress(bytes: Buffer): Buffer
  /** Unpacks, or returns undefined when that would make more than `limit` bytes. Throws for what cannot be unpacked. */
  unpackAtMost(bytes: Buffer, limit: number): Buffer | undefined | Promise<Buffer | undefined>
  /**
   * Unpacks piece by piece, so that memory stays bounded whatever the bytes become. A piece is good until the next one is
   * asked for. Throws for what cannot be unpacked.
   */
  unpack(bytes: Buffer): Iterable<Buffer> | AsyncIterable<Buffer>
}

/** Joins pieces up to `limit` bytes; undefined when there are more. */
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

/** Copies bytes that were unpacked before, as both LZ4 and Snappy say it; the copy may begin to repeat itself. */
export function copyBack(to: Buffer, at: number, offset: number, length: number): void {
  const from = at - offset
  if (length < 48) {
    for (let i = 0; i < length; i++) to[at + i] = to[from + i] as number
    return
  }
  // What repeats itself is copied in strides that double.
  for (let done = 0; done < length; ) {
    const stride = Math.min(offset + done, length - done)
    to.copyWithin(at + done, from, from + stride)
    done += stride
  }
}
