import { once } from 'node:events'
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { answerDirectly, type DirectAnswers, type Exchange } from './directAnswers.ts'
import type { ReadRequest } from './plainRequest.ts'

type Asked = { request: ReadRequest; exchange: Exchange<string> }

let server: Server
let direct: DirectAnswers<string>
/** Requests that wait for a direct answer. */
let asked: Asked[]
/** Whether requests that Node has read are asked for, too. */
let asksOfNode: boolean
let declined: number
/** What Node's HTTP got: the target, and what had happened to it before. */
let ofNode: [url: string | undefined, waited: string | undefined][]
/** What Node's HTTP answers with. */
let answerOfNode: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  asked = []
  asksOfNode = false
  declined = 0
  ofNode = []
  answerOfNode = ({ url }, response) => response.end(`node ${url};`)
  server = createServer({ keepAliveTimeout: 72_000, requireHostHeader: false }, (request, response) => {
    ofNode.push([request.url, direct.waited(request)])
    answerOfNode(request, response)
  })
  direct = answerDirectly(server, (request, exchange) => {
    const isOfNode = request instanceof IncomingMessage
    if (!request.url.startsWith('/poll') || (isOfNode && !asksOfNode)) {
      declined += 1
      return false
    }
    asked.push({ request, exchange })
    return true
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A connection, and what it has received so far. */
async function open() {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay()
  let text = ''
  socket.on('data', bytes => {
    text += bytes
  })
  await once(socket, 'connect')
  const untilReceived = (part: string | RegExp) => vi.waitFor(() => expect(text).toMatch(part), 120_000)
  return { socket, untilReceived, received: () => text }
}
/** The same after a first request, which is Node's. */
async function openUsed() {
  const connection = await open()
  connection.socket.write(get('/first'))
  await connection.untilReceived('node /first')
  ofNode = []
  return connection
}
const get = (url: string, headers = '') => `GET ${url} HTTP/1.1\r\nHost: tally\r\n${headers}\r\n`
const untilAsked = (count: number) => vi.waitFor(() => expect(asked).toHaveLength(count), 120_000)
const answer = (body: string) =>
  asked.at(-1)?.exchange.answer(200, `Content-Length: ${body.length}\r\n`, body)
const bodies = (text: string) => [...text.matchAll(/(?:direct|node) [\w/]+(?=;)/g)].map(([body]) => body)

test('a plain request is answered on its connection, with the headers of every answer', async () => {
  const { socket, untilReceived, received } = await openUsed()
  socket.write(get('/poll', 'X-Api-Key: a token\r\n'))
  await untilAsked(1)
  expect(asked[0]?.request).toMatchObject({ url: '/poll', headers: { 'x-api-key': 'a token' } })
  answer('direct a;')
  await untilReceived('direct a')
  const [head = ''] = received()
    .slice(received().indexOf('node /first;') + 'node /first;'.length)
    .split('\r\n\r\n')
  const [status, ...headers] = head.split('\r\n')
  expect(status).toBe('HTTP/1.1 200 OK')
  expect(headers).toEqual([
    'Content-Length: 9',
    expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
    'Cache-Control: private, no-cache',
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    'Connection: keep-alive',
    'Keep-Alive: timeout=72',
  ])
  expect(ofNode).toEqual([])
})

test('the first request of a connection is Node’s', async () => {
  const { socket, untilReceived } = await open()
  socket.write(get('/poll'))
  await untilReceived('node /poll')
  expect(asked).toEqual([])
})

test('what Node has read, such as the first request, is answered past the listener, with the headers of every answer', async () => {
  asksOfNode = true
  const { socket, untilReceived, received } = await open()
  socket.write(get('/poll', 'X-Api-Key: a token\r\n'))
  await untilAsked(1)
  expect(asked[0]?.request).toMatchObject({ url: '/poll', headers: { 'x-api-key': 'a token' } })
  answer('direct a;')
  await untilReceived('direct a;')
  expect(received()).toMatch(
    /^HTTP\/1\.1 200 OK\r\nContent-Length: 9\r\nCache-Control: private, no-cache\r\n/,
  )
  expect(received()).toMatch(/\r\nKeep-Alive: timeout=72\r\n/)
  socket.write(get('/poll/again'))
  await untilAsked(2)
  answer('direct b;')
  await untilReceived('direct b;')
  expect(ofNode).toEqual([])
})

test('what Node has read and is left goes to the listener, with what has happened to it', async () => {
  asksOfNode = true
  const { socket, untilReceived } = await open()
  socket.write(get('/poll'))
  await untilAsked(1)
  asked[0]?.exchange.leave('waited')
  await untilReceived('node /poll;')
  expect(ofNode).toEqual([['/poll', 'waited']])
  expect(asked).toHaveLength(1)
})

test('a request that was declined on its connection is not asked for again', async () => {
  asksOfNode = true
  const { socket, untilReceived } = await openUsed()
  const before = declined
  socket.write(get('/other'))
  await untilReceived('node /other;')
  expect(declined - before).toBe(1)
})

test.each([
  ['with a body', 'GET /poll HTTP/1.1\r\nHost: tally\r\nContent-Length: 1\r\n\r\na'],
  ['of another method', 'HEAD /poll HTTP/1.1\r\nHost: tally\r\n\r\n'],
])('a request %s is the listener’s', async (_, bytes) => {
  asksOfNode = true
  const { socket, untilReceived } = await open()
  socket.write(bytes)
  await untilReceived('HTTP/1.1 200')
  expect(asked).toEqual([])
  expect(ofNode).toHaveLength(1)
})

test('a request that is left to Node’s HTTP learns what has happened to it', async () => {
  const { socket, untilReceived } = await openUsed()
  socket.write(get('/poll/a'))
  await untilAsked(1)
  asked[0]?.exchange.leave('a decision')
  await untilReceived('node /poll/a')
  socket.write(get('/other'))
  await untilReceived('node /other')
  expect(ofNode).toEqual([
    ['/poll/a', 'a decision'],
    ['/other', undefined],
  ])
  socket.write(get('/poll/b'))
  await untilAsked(2)
})

test('answers that are ready together are written one after the other, once all are composed', async () => {
  const [one, other] = [await openUsed(), await openUsed()]
  one.socket.write(get('/poll/1'))
  await untilAsked(1)
  other.socket.write(get('/poll/2'))
  await untilAsked(2)
  const written = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => written.mockRestore())
  for (const { exchange, request } of asked)
    exchange.answer(200, 'Content-Length: 14\r\n', `direct ${request.url};`)
  expect(written).not.toHaveBeenCalled()
  await one.untilReceived('direct /poll/1;')
  await other.untilReceived('direct /poll/2;')
})

test('a request that comes before the last answer waits for it', async () => {
  const { socket, untilReceived, received } = await openUsed()
  socket.write(get('/poll/a'))
  await untilAsked(1)
  socket.write(get('/other'))
  // What another connection gets shows that the server has read it.
  await openUsed()
  expect(ofNode).toEqual([])
  answer('direct a;')
  await untilReceived('node /other')
  expect(bodies(received())).toEqual(['node /first', 'direct a', 'node /other'])
})

test('a request behind an unfinished answer of Node’s HTTP is Node’s', async () => {
  const { socket, untilReceived, received } = await openUsed()
  const slow = Promise.withResolvers<ServerResponse>()
  answerOfNode = ({ url }, response) =>
    url === '/slow' ? slow.resolve(response) : response.end(`node ${url};`)
  socket.write(get('/slow'))
  const response = await slow.promise
  socket.write(get('/poll'))
  await vi.waitFor(() => expect(ofNode).toHaveLength(2), 120_000)
  response.end('node /slow;')
  await untilReceived('node /poll')
  expect(bodies(received())).toEqual(['node /first', 'node /slow', 'node /poll'])
  expect(asked).toEqual([])
})

test.each([
  ['two requests at once', [get('/poll/a') + get('/poll/b')], ['/poll/a', '/poll/b']],
  ['a request in parts', [get('/poll/a').slice(0, 9), get('/poll/a').slice(9)], ['/poll/a']],
  ['a part of a request that ends like one', ['GET /poll/a HTTP/1.1\r\nX: ', get('/poll/b')], ['/poll/a']],
  ['a body', [get('/poll/a', 'Content-Length: 3\r\n'), 'abc'], ['/poll/a']],
])('%s: the connection is Node’s from then on', async (_, parts, urls) => {
  const { socket, untilReceived } = await openUsed()
  for (const part of parts) {
    socket.write(part)
    // So that the parts do not arrive together.
    await openUsed()
    ofNode = ofNode.filter(([url]) => url !== '/first')
  }
  await untilReceived(`node ${urls.at(-1)}`)
  socket.write(get('/poll/last'))
  await untilReceived('node /poll/last')
  expect(asked).toEqual([])
})

test('the connection of a client that does not read its answers is Node’s', async () => {
  const { socket } = await openUsed()
  socket.pause()
  socket.write(get('/poll/a'))
  await untilAsked(1)
  answer('x'.repeat(20 * 1024 * 1024))
  socket.write(get('/poll/b'))
  await vi.waitFor(() => expect(ofNode).toEqual([['/poll/b', undefined]]), 120_000)
  expect(asked).toHaveLength(1)
})

test('a client that has sent its last request gets the answer before the end', async () => {
  const { socket, received } = await openUsed()
  socket.end(get('/poll'))
  await untilAsked(1)
  answer('direct a;')
  await once(socket, 'close')
  expect(bodies(received())).toEqual(['node /first', 'direct a'])
  // The idle timeout would end it after 72 s.
}, 20_000)

/** A connection that was reset while its poll waits, and one that has come since, perhaps with the same parser. */
async function openGone(...held: string[]) {
  const gone = await openUsed()
  gone.socket.write(get('/poll', 'X-Api-Key: of the one that has gone\r\n'))
  await untilAsked(1)
  for (const text of held) gone.socket.write(text)
  // What another connection gets shows that the server has read that.
  const other = await openUsed()
  other.socket.end()
  gone.socket.resetAndDestroy()
  const connections = () => new Promise(resolve => server.getConnections((_, count) => resolve(count)))
  await expect.poll(connections).toBe(0)
  ofNode = []
  return open()
}

test.each([
  ['answered', [], () => answer('direct a;')],
  ['left to Node’s HTTP', [], () => asked[0]?.exchange.leave('a decision')],
  ['answered, with another request behind it', [get('/other')], () => answer('direct a;')],
])(
  'a request whose client has gone is %s: nothing of it reaches another connection',
  async (_, held, settle) => {
    const other = await openGone(...held)
    other.socket.write('GET /other/path HTTP/1.1\r\nX-Pad: ')
    // The server has the beginning once another connection has an answer.
    await openUsed()
    settle()
    await openUsed()
    expect(other.received()).toBe('')
    other.socket.write('end\r\n\r\n')
    await other.untilReceived('node /other/path')
    expect(ofNode.filter(([url]) => url !== '/first')).toEqual([['/other/path', undefined]])
    expect(bodies(other.received())).toEqual(['node /other/path'])
  },
)

test('once stopped, waiting requests are answered and further ones are Node’s', async () => {
  const { socket, untilReceived } = await openUsed()
  socket.write(get('/poll'))
  await untilAsked(1)
  answer('direct;')
  socket.write(get('/poll/a'))
  await untilAsked(2)
  let isStopped = false
  const stopping = Promise.all([direct.stop(), direct.stop()]).then(() => {
    isStopped = true
  })
  await openUsed()
  expect(isStopped).toBe(false)
  answer('direct a;')
  await stopping
  await untilReceived('direct a')
  socket.write(get('/poll/b'))
  await untilReceived('node /poll/b')
  await direct.stop()
})

test('a connection whose requests are all answered directly is not closed as too slow', async () => {
  server.close()
  server = createServer(
    { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20, requireHostHeader: false },
    (_, response) => response.end('node /first;'),
  )
  answerDirectly(server, (request, exchange) => {
    if (request instanceof IncomingMessage) return false
    setImmediate(() => exchange.answer(200, 'Content-Length: 6\r\n', 'direct'))
    return true
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { socket, received } = await openUsed()
  const endMs = performance.now() + 400
  while (performance.now() < endMs) {
    const before = received().length
    socket.write(get('/poll'))
    await vi.waitFor(() => expect(received().length).toBeGreaterThan(before), {
      timeout: 120_000,
      interval: 5,
    })
  }
  expect(socket.closed).toBe(false)
})
