/** How the records of a batch are packed. */
export type Codec = {
  /** Unpacks, or returns undefined if the result would exceed `limit` bytes. Throws if the bytes cannot be unpacked. */
  unpackAtMost(bytes: Buffer, limit: number): Buffer | undefined | Promise<Buffer | undefined>
  /** Unpacks in bounded memory; a piece is valid until the next is requested. Throws if bytes cannot be unpacked. */
  unpack(bytes: Buffer): Iterable<Buffer> | AsyncIterable<Buffer>
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
