const newline = 0x0a

/**
 * Cuts a stream of bytes into lines, each a whole Buffer without its newline; the last may lack one. A line of more
 * than `maxBytes` is cut to one byte more than that. Bytes, not text: node:readline also cuts at U+2028, which JSON
 * allows inside a string, and hides what is not UTF-8.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  let room = maxBytes + 1
  const add = (part: Buffer) => {
    const taken = part.length > room ? part.subarray(0, room) : part
    if (taken.length > 0) begun.push(taken)
    room -= taken.length
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, end))
      yield begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun)
      begun = []
      room = maxBytes + 1
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}
