import type { Socket } from 'node:net'

/** The part of kafkajs's Connection that the patch uses. */
type Connection = Buffered & {
  socket?: Socket
  connecting?: Promise<true> | undefined
  requestQueue: { rejectAll(error: Error): void; giveUp?: (error: Error) => void; silentMs?: number }
  isConnected(): boolean
  connect(): Promise<true>
  disconnect(): Promise<true>
  processData(bytes: Buffer): unknown
}

/** Number of bytes of the size with which every answer begins. */
const sizeBytes = 4
/** No answer is nearly as large: a larger size means that the stream is out of step. */
const largestAnswer = 256 * 1024 * 1024

/**
 * Keeps the bytes of two sockets apart. A connection of kafkajs 2.2.4 outlives its sockets. The part of an answer that
 * had arrived when a socket broke stays in front of the next socket's answers; a socket that was given up still
 * delivers bytes in between, and its end is taken for the end of the new one; two concurrent calls of `connect` open
 * two sockets. The mixed bytes throw in an event handler, which ends the process (issues 715 and 1374).
 *
 * With the patch, a new socket starts with an empty buffer, the old socket is destroyed first, and concurrent calls
 * share one socket. Unreadable bytes are an error of the connection, which is then opened again. A request that was
 * sent while the connection closed is rejected; kafkajs waits for its answer forever, and takes the connection for a
 * good one.
 */
export function patchReconnect(
  prototype: object,
  KafkaJSConnectionError: new (message: string) => Error,
): void {
  const { connect, disconnect, processData } = prototype as Connection
  Object.assign(prototype, {
    connect(this: Connection): Promise<true> {
      if (this.isConnected()) return Promise.resolve(true)
      // See requestQueue.ts.
      this.requestQueue.giveUp = error => this.socket?.destroy(error)
      this.connecting ??= begin(this, connect, KafkaJSConnectionError).finally(() => {
        this.connecting = undefined
      })
      return this.connecting
    },

    async disconnect(this: Connection): Promise<true> {
      // With an error, which also ends kafkajs's timeout for this attempt.
      if (this.connecting !== undefined) this.socket?.destroy(new KafkaJSConnectionError('given up'))
      // Each `unref` of a socket that is gone would add a listener to it.
      if (this.socket?.destroyed) delete this.socket
      const done = await disconnect.call(this)
      if (!this.isConnected())
        this.requestQueue.rejectAll(new KafkaJSConnectionError('the connection was closed'))
      return done
    },

    processData(this: Connection, bytes: Buffer): unknown {
      this.requestQueue.silentMs = 0
      try {
        return gatherAnswers(this, bytes, {
          processData: chunk => processData.call(this, chunk),
          largest: largestAnswer,
        })
      } catch (error) {
        this.socket?.destroy(error as Error)
        return undefined
      }
    },
  })
}

async function begin(
  connection: Connection,
  connect: Connection['connect'],
  KafkaJSConnectionError: new (message: string) => Error,
): Promise<true> {
  leave(connection.socket)
  Object.assign(connection, { chunks: [], bytesBuffered: 0, bytesNeeded: sizeBytes, answer: undefined })
  const connected = connect.call(connection)
  // kafkajs notices the end of a socket only after it was connected.
  const closed = new Promise<never>((_, reject) => {
    connection.socket?.once('close', () =>
      reject(new KafkaJSConnectionError('Kafka closed the connection as it began')),
    )
  })
  return Promise.race([connected, closed])
}

function leave(socket: Socket | undefined): void {
  socket?.removeAllListeners()
  socket?.on('error', () => undefined)
  socket?.destroy()
}

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
function gatherAnswers(
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
