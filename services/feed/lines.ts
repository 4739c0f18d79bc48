import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/**
 * Reads the lines of a file that are not blank, each with its number, from a stream of its bytes, which it closes.
 * A file whose name ends in `.gz` is unpacked. `maxBytes`: as for linesOf. Throws an error that begins with `failure`
 * if the file is missing, truncated or not gzip.
 */
export async function* linesOfFile(
  file: string,
  bytes: Readable,
  { failure, maxBytes }: { failure: string; maxBytes?: number },
): AsyncGenerator<{ number: number; line: Buffer }> {
  // pipeline passes an error of the file to the unpacked stream, which the loop below reads.
  const unpacked = file.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes
  let number = 0
  try {
    for await (const line of linesOf(unpacked, maxBytes)) {
      number++
      if (!isBlank(line)) yield { number, line }
    }
  } catch (cause) {
    throw new Error(`${failure}: ${(cause as Error).message}`, { cause })
  }
}

const isBlank = (line: Buffer): boolean => line.every(byte => byte === 0x20 || byte === 0x0d || byte === 0x09)

const newline = 0x0a

/**
 * Cuts a stream of bytes into lines, each a whole Buffer without its newline; the last may lack one. A line of more
 * than `maxBytes` is cut to one byte more than that. Bytes, not text: node:readline also cuts at U+2028, which JSON
 * allows inside a string, and hides what is not UTF-8.
 */
async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  let room = maxBytes + 1
  const add = (part: Buffer) => {
    const taken = part.subarray(0, room)
    if (taken.length > 0) begun.push(taken)
    room -= taken.length
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, end))
      yield Buffer.concat(begun)
      begun = []
      room = maxBytes + 1
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}
