const newline = 0x0a

/**
 * Cuts a stream of bytes into lines, each a whole Buffer without its newline; the last may lack one. Bytes, not
 * text: node:readline also cuts at U+2028, which JSON allows inside a string, and hides what is not UTF-8.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)])
      begun = []
      from = end + 1
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}
