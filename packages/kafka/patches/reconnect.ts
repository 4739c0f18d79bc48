import type { Socket } from 'node:net'

/** What of kafkajs's Connection the patch touches. */
type Connection = {
  socket?: Socket
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  connecting?: Promise<true> | undefined
  requestQueue: { rejectAll(error: Error): void; giveUp?: (error: Error) => void; silentMs?: number }
  isConnected(): boolean
  connect(): Promise<true>
  disconnect(): Promise<true>
  processData(bytes: Buffer): unknown
}

/** Every answer begins with its size, in so many bytes. */
const sizeBytes = 4
/** No answer is nearly as large: whoever announces more has lost the thread. */
const largestAnswer = 256 * 1024 * 1024

/**
 * Keeps what two sockets bring apart. A connection of kafkajs 2.2.4 outlives its sockets: what it had of an answer when one
 * broke stays the beginning of the next one's answers, a socket that was given up still brings its own in between, and its
 * end is taken for the end of the new one; two who ask at once open two. What then cannot be read throws in an event
 * handler, which ends the process (issues 715 and 1374). Here a new socket begins with nothing, the one before is gone,
 * all who ask share one, and one that brings what cannot be read is an error of the connection, which is made anew. A
 * request that was sent while the connection closed is refused; kafkajs waits for its answer for ever, and takes the
 * connection for a good one meanwhile.
 */
export function patchReconnect(
  prototype: object,
  KafkaJSConnectionError: new (message: string) => Error,
): void {
  const { connect, disconnect, processData } = prototype as Connection
  Object.assign(prototype, {
    connect(this: Connection): Promise<true> {
      if (this.isConnected()) return Promise.resolve(true)
      // See silence.ts.
      this.requestQueue.giveUp = error => this.socket?.destroy(error)
      this.connecting ??= begin(this, connect, KafkaJSConnectionError).finally(() => {
        this.connecting = undefined
      })
      return this.connecting
    },

    async disconnect(this: Connection): Promise<true> {
      // With an error, so that kafkajs's time-out for this attempt ends with it.
      if (this.connecting !== undefined) this.socket?.destroy(new KafkaJSConnectionError('given up'))
      const done = await disconnect.call(this)
      if (!this.isConnected())
        this.requestQueue.rejectAll(new KafkaJSConnectionError('the connection was closed'))
      return done
    },

    processData(this: Connection, bytes: Buffer): unknown {
      this.requestQueue.silentMs = 0
      try {
        const result = processData.call(this, bytes)
        if (this.bytesNeeded > largestAnswer) throw new Error(`an answer of ${this.bytesNeeded} bytes`)
        return result
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
  Object.assign(connection, { chunks: [], bytesBuffered: 0, bytesNeeded: sizeBytes })
  const connected = connect.call(connection)
  // kafkajs hears of an end only once there was a beginning.
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
