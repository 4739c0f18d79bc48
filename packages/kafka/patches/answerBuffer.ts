/** The part of kafkajs's Connection that holds what has arrived of an answer. */
export type Buffered = {
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  /** An answer that is gathered here: its bytes so far are `answer.subarray(0, gathered)`. */
  answer?: Buffer | undefined
  gathered?: number
}

/** Smaller answers arrive in one or two chunks. */
const largeAnswer = 128 * 1024

/**
 * Gathers a large answer in one buffer of its size. kafkajs 2.2.4 keeps all chunks of an answer until its last byte has
 * arrived and joins them then: an answer of 16 MiB takes twice its size, and its 256 chunks are old by then, so that
 * they take their memory until the next full garbage collection.
 *
 * `processData` is kafkajs's own: it gets the beginning of each answer, then the whole answer as one chunk. Throws if
 * an answer is larger than `largest`.
 */
export function gatherAnswers(
  connection: Buffered,
  bytes: Buffer,
  { processData, largest }: { processData: (bytes: Buffer) => unknown; largest: number },
): unknown {
  let rest = bytes
  if (connection.answer !== undefined) {
    const { answer, gathered = 0 } = connection
    const copied = bytes.copy(answer, gathered)
    connection.gathered = gathered + copied
    if (connection.gathered < answer.length) return undefined
    connection.answer = undefined
    const result = processData(answer)
    // An empty rest of the answer would keep all of it.
    if (connection.bytesBuffered === 0) connection.chunks = []
    if (copied === bytes.length) return result
    rest = bytes.subarray(copied)
  }
  const result = processData(rest)
  const { bytesNeeded, bytesBuffered } = connection
  if (bytesNeeded > largest) throw new Error(`an answer of ${bytesNeeded} bytes`)
  if (bytesNeeded > largeAnswer && bytesBuffered < bytesNeeded) beginAnswer(connection)
  return result
}

function beginAnswer(connection: Buffered): void {
  const answer = Buffer.allocUnsafeSlow(connection.bytesNeeded)
  let gathered = 0
  for (const chunk of connection.chunks) gathered += chunk.copy(answer, gathered)
  Object.assign(connection, { answer, gathered, chunks: [], bytesBuffered: 0 })
}
