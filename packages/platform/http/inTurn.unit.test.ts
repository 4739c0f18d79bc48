import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { serveOneRequestAtATime } from './inTurn.ts'

let server: Server
/** What Node's HTTP has read. */
let asked: { request: IncomingMessage; response: ServerResponse }[]

beforeEach(async () => {
  asked = []
  server = createServer((request, response) => asked.push({ request, response }))
  server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  serveOneRequestAtATime(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function open() {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay()
  let received = ''
  socket.on('data', bytes => {
    received += bytes
  })
  await once(socket, 'connect')
  return { socket, received: () => received }
}
const untilAsked = (count: number) => vi.waitFor(() => expect(asked).toHaveLength(count), 120_000)
const answer = (text: string) => asked.at(-1)?.response.end(text)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

test('of the requests in one segment, each is read once the one before is answered', async () => {
  const { socket, received } = await open()
  socket.write(get('/1') + get('/2') + get('/3').slice(0, 9))
  for (const path of ['/1', '/2']) {
    await untilAsked(Number(path.slice(1)))
    await new Promise(setImmediate)
    expect(asked.map(({ request }) => request.url).at(-1)).toBe(path)
    answer(`answer ${path};`)
  }
  socket.write(get('/3').slice(9))
  await untilAsked(3)
  answer('answer /3;')
  await vi.waitFor(() => expect(received()).toMatch(/answer \/1;.*answer \/2;.*answer \/3;/s), 120_000)
})

test('a client that sends thousands of requests at once holds up no other client', async () => {
  let answered = 0
  server.on('request', (_request, response) => response.end(String(++answered)))
  const [many, one] = [await open(), await open()]
  many.socket.write(get('/many').repeat(2_000))
  one.socket.write(get('/one'))
  await once(one.socket, 'data')
  expect(answered).toBeLessThan(1_000)
  await vi.waitFor(() => expect(answered).toBe(2_001), 120_000)
})

test('a body is read while its request waits for it, and what follows is the next request', async () => {
  const { socket } = await open()
  const body = '\r\n\r\n'.repeat(10_000)
  socket.write(
    `POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}${get('/next')}`,
  )
  await vi.waitFor(() => expect(asked).not.toEqual([]), 120_000)
  expect(await text(asked[0]?.request as IncomingMessage)).toBe(body)
  asked[0]?.response.end()
  await untilAsked(2)
  expect(asked[1]?.request.url).toBe('/next')
})

test('bytes that are not a request are refused after the answers before them', async () => {
  const { socket, received } = await open()
  socket.write(`${get('/1')}\0garbage\r\n\r\n${get('/2')}`)
  await untilAsked(1)
  answer('answer /1;')
  await once(socket, 'close')
  expect(received()).toMatch(/answer \/1;.*HTTP\/1.1 400 /s)
  expect(asked).toHaveLength(1)
})

test('what a client leaves unread holds its next requests up', async () => {
  const { socket } = await open()
  socket.pause()
  socket.write(get('/1') + get('/2'))
  await untilAsked(1)
  const { response } = asked[0] as (typeof asked)[number]
  response.end('x'.repeat(32 * 2 ** 20))
  await vi.waitFor(() => expect(response.socket?.writableLength).toBeGreaterThan(0), 120_000)
  expect(asked).toHaveLength(1)
  socket.resume()
  await untilAsked(2)
})

test('a client that never stops sending is read no further than its answers have come', async () => {
  let read = 0
  server.on('request', ({ socket }, response) => {
    read = socket.bytesRead
    response.end()
  })
  const { socket } = await open()
  // The server ends the connection while it still sends.
  socket.on('error', () => {})
  socket.write(get('/many').repeat(200_000))
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(300), 120_000)
  // Two pieces of what Node reads at once, and what was answered.
  expect(read).toBeLessThan(2 * 65_536 + asked.length * get('/many').length)
})
