import type { Socket } from 'node:net'

/** What of kafkajs's Connection the patch touches. */
type Connection = {
  socket?: Socket
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  connecting?: Promise<true> | undefined
  isConnected(): boolean
  connect(): Promise<true>
  processData(bytes: Buffer): unknown
}

/** Every answer begins with its size, in so many bytes. */
const sizeBytes = 4

/**
 * Keeps what two sockets bring apart. A connection of kafkajs 2.2.4 outlives its sockets: what it had of an answer when one
 * broke stays the beginning of the next one's answers, a socket that was given up still brings its own in between, and its
 * end is taken for the end of the new one; two who ask at once open two. What then cannot be read throws in an event
 * handler, which ends the process (issues 715 and 1374). Here a new socket begins with nothing, the one before is gone,
 * all who ask share one, and one that brings what cannot be read is an error of the connection, which is made anew.
 */
export function patchReconnect(
  prototype: object,
  KafkaJSConnectionError: new (message: string) => Error,
): void {
  const { connect, processData } = prototype as Connection
  Object.assign(prototype, {
    connect(this: Connection): Promise<true> {
      if (this.isConnected()) return Promise.resolve(true)
      this.connecting ??= begin(this, connect, KafkaJSConnectionError).finally(() => {
        this.connecting = undefined
      })
      return this.connecting
    },

    processData(this: Connection, bytes: Buffer): unknown {
      try {
        return processData.call(this, bytes)
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
