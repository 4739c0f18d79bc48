import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { createLogger } from '@tally/platform'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openClient } from '../client/connection.ts'
import '../client/kafkajs.ts'

type Answer = { correlationId: number; payload: Buffer }
type Connection = {
  connect(): Promise<true>
  disconnect(): Promise<true>
  isConnected(): boolean
  requestQueue: { fulfillRequest: (answer: Answer) => void; push: (request: object) => void }
}
const Connection: new (options: object) => Connection = createRequire(import.meta.url)(
  'kafkajs/src/network/connection.js',
)

const silent = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => silent }
/** Its ends may still write when the client has ended, as answers on a slow way do. */
const server = createServer({ allowHalfOpen: true })
/** The server's ends, in the order of the connections. */
let sockets: Socket[] = []
let connection: Connection
let answers: string[] = []
/** Sockets that the connection has made. */
let made = 0

beforeEach(async () => {
  sockets = []
  server.removeAllListeners('connection').on('connection', socket => {
    sockets.push(socket.on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  connection = open()
})
afterEach(async () => {
  await connection.disconnect()
  for (const socket of sockets) socket.destroy()
  await new Promise(resolve => server.close(resolve))
})

function open(
  makeSocket = (port: number, onConnect: () => void): Duplex => connect(port, '127.0.0.1', onConnect),
) {
  const { port } = server.address() as AddressInfo
  const opened = new Connection({
    host: '127.0.0.1',
    port,
    logger: silent,
    connectionTimeout: 1_000,
    requestTimeout: 5_000,
    socketFactory({ onConnect }: { onConnect: () => void }) {
      made += 1
      return makeSocket(port, onConnect)
    },
  })
  made = 0
  answers = []
  opened.requestQueue.fulfillRequest = ({ correlationId, payload }) =>
    answers.push(`${correlationId} ${payload}`)
  return opened
}

function answer(correlationId: number, text: string): Buffer {
  const bytes = Buffer.alloc(8 + text.length)
  bytes.writeInt32BE(4 + text.length, 0)
  bytes.writeInt32BE(correlationId, 4)
  bytes.write(text, 8)
  return bytes
}
/** However long a busy machine takes. */
const eventually = <Found>(holds: () => Found) => vi.waitFor(holds, 120_000)
const socketAt = (index: number) =>
  eventually(() => {
    const socket = sockets[index]
    if (socket === undefined) throw new Error('no client has connected')
    return socket
  })
const arrived = (expected: string[]) => eventually(() => expect(answers).toEqual(expected))

test('disconnecting again and again adds no listener to a socket that is gone', async () => {
  let socket: Socket | undefined
  connection = open((port, onConnect) => {
    socket = connect(port, '127.0.0.1', onConnect)
    return socket
  })
  await connection.connect()
  ;(await socketAt(0)).destroy()
  await eventually(() => expect(socket?.destroyed).toBe(true))
  for (let times = 0; times < 3; times++) await connection.disconnect()
  expect(socket?.listenerCount('connect')).toBe(0)
})

test.each([100, 200_000])('half an answer of %i bytes is forgotten with its socket', async size => {
  await connection.connect()
  const first = await socketAt(0)
  first.write(Buffer.concat([answer(1, 'whole'), answer(2, 'x'.repeat(size)).subarray(0, size * 0.9)]))
  await arrived(['1 whole'])
  first.destroy()
  await eventually(() => expect(connection.isConnected()).toBe(false))

  await connection.connect()
  ;(await socketAt(1)).write(answer(3, 'after'))
  await arrived(['1 whole', '3 after'])
})

test('what a socket brings that was given up is not heard, nor is its end', async () => {
  await connection.connect()
  const first = await socketAt(0)
  await connection.disconnect()
  await connection.connect()
  const second = await socketAt(1)
  second.write(answer(3, 'after').subarray(0, 6))
  first.end(answer(2, 'late'))
  await eventually(() => expect(first.destroyed).toBe(true))
  second.write(answer(3, 'after').subarray(6))
  await arrived(['3 after'])
  expect(connection.isConnected()).toBe(true)
})

test('calls share the socket that is open or being opened, and a call after its end opens another', async () => {
  await Promise.all([connection.connect(), connection.connect(), connection.connect()])
  await connection.connect()
  ;(await socketAt(0)).write(answer(1, 'heard'))
  await arrived(['1 heard'])
  expect(made).toBe(1)
  await connection.disconnect()
  await connection.connect()
  expect(made).toBe(2)
})

test('closing while connecting rejects the waiting call, and the next call opens a socket of its own', async () => {
  const attempt = connection.connect()
  const given = expect(attempt).rejects.toThrow('given up')
  await connection.disconnect()
  await given
  await connection.connect()
  expect(made).toBe(2)
  await eventually(() => {
    for (const socket of sockets) socket.write(answer(3, 'after'))
    expect(answers).toContain('3 after')
  })
})

test('a request that comes while the connection closes is refused', async () => {
  await connection.connect()
  const closing = connection.disconnect()
  const request = new Promise((resolve, reject) => {
    const entry = { correlationId: 9, apiKey: 1, apiName: 'Fetch', apiVersion: 0, resolve, reject }
    connection.requestQueue.push({ entry, expectResponse: true, sendRequest() {} })
  })
  const refused = expect(request).rejects.toThrow('closed')
  await closing
  await refused
  ;(await socketAt(0)).end()
  await eventually(() => expect(sockets[0]?.destroyed).toBe(true))
  expect(connection.isConnected()).toBe(false)
})

test.each([
  ['is too short', [0, 0, 0, 2, 0, 0]],
  ['has no end', [127, 255, 255, 255, 0, 0]],
])('an answer that %s ends only the connection, which can be opened again', async (_, bytes) => {
  await connection.connect()
  ;(await socketAt(0)).write(Buffer.from(bytes))
  await eventually(() => expect(connection.isConnected()).toBe(false))
  await connection.connect()
  ;(await socketAt(1)).write(answer(3, 'after'))
  await arrived(['3 after'])
})

test('a socket that closes before it is connected rejects the waiting call', async () => {
  const silently = open(() => {
    const socket = Object.assign(new PassThrough(), { unref() {} })
    return socket.resume().end()
  })
  await expect(silently.connect()).rejects.toThrow('closed the connection')
})

test('a broker may be named by its IPv6 address', async () => {
  const broker = createServer(socket => socket.destroy()).listen(0, '::1')
  await once(broker, 'listening')
  const { port } = broker.address() as AddressInfo
  const asked = once(broker, 'connection')
  const logger = createLogger('test', 'silent')
  const admin = openClient({ brokers: [`[::1]:${port}`], ssl: false }, 'test', logger).admin()
  const failed = admin.connect().catch(() => 'no broker')
  await asked
  broker.close()
  expect(await failed).toBe('no broker')
})
