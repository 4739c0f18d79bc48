import { once } from 'node:events'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { listenTo, open, requestBytes, statusesOf, talk } from './raw.ts'

/** What Node's HTTP leaves without an answer, on every server (packages/platform/http/server.ts, `secure`). */
const tally = useTally()
const festival = newFestival()
const poll = `${festival.path}/analytics/kpis`
/** A path of each server that answers 200, with its headers. */
const servers: Record<string, { address: string; get: string }> = {}

const getOf = (path: string, headers: string[] = []) =>
  `${['GET', path, 'HTTP/1.1'].join(' ')}\r\n${['Host: tally', ...headers].join('\r\n')}\r\n\r\n`

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const key = `X-Api-Key: ${await tally.key(festival.organizationId)}`
  const [query] = tally.queries as [(typeof tally.queries)[0]]
  const { address } = await tally.startAdmin()
  Object.assign(servers, {
    'the API': { address: query.address, get: getOf(poll, [key]) },
    'the list of the API': { address: query.address, get: getOf('/api/v1/events', [key]) },
    'a page of the API': { address: query.address, get: getOf('/problems/unauthorized') },
    'the administration area': { address, get: getOf('/sign-in') },
    'the operations port': { address: query.ops, get: getOf('/livez') },
  })
})

const names = [
  'the API',
  'the list of the API',
  'a page of the API',
  'the administration area',
  'the operations port',
]
const serverOf = (name: string) => servers[name] as { address: string; get: string }

test.each(names)(
  '%s answers a client that shuts its sending half, and then ends the connection',
  async name => {
    const { address, get } = serverOf(name)
    const head = get.replace('GET', 'HEAD')
    for (const requests of [
      [get],
      [head],
      [get, get, get],
      [get.replace('Host', 'Connection: keep-alive\r\nHost')],
    ]) {
      const heard = await talk(address, requests.join(''), { halfClose: true, timeoutMs: 60_000 })
      expect([statusesOf(heard), heard.closed]).toEqual([requests.map(() => 200), true])
    }
    const second = open(address)
    const heard = listenTo(second)
    second.write(get)
    await expect.poll(() => statusesOf(heard)).toEqual([200])
    second.end(get)
    await once(second, 'close')
    expect(statusesOf(heard)).toEqual([200, 200])
  },
)

test.each(names)(
  '%s answers a request that asks for an upgrade without one, and what came with it',
  async name => {
    const { address, get } = serverOf(name)
    for (const protocol of ['websocket', 'h2c']) {
      const upgrade = get.replace('Host', `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nHost`)
      const heard = await talk(address, upgrade + get, { halfClose: true, timeoutMs: 60_000 })
      expect([statusesOf(heard), heard.closed]).toEqual([[200, 200], true])
    }
  },
)

test.each(names)(
  '%s ends the connection after the answer to an upgrade with a body, whose end is not seen',
  async name => {
    const { address, get } = serverOf(name)
    const headers = 'Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\nHost'
    const upgrade = `${get.replace('GET', 'POST').replace('Host', headers)}abc`
    const heard = await talk(address, upgrade + get, { timeoutMs: 60_000 })
    expect([statusesOf(heard).length, heard.closed]).toEqual([1, true])
  },
)

test.each(names)(
  '%s stores nothing in caches of what Node would answer itself: no host, an unknown expectation',
  async name => {
    const { address, get } = serverOf(name)
    const requests = [get.replace('Host', 'Expect: tea\r\nHost'), get.replace('Host', 'X-Host'), get]
    for (const request of requests) {
      const { text } = await talk(address, request, { halfClose: true, timeoutMs: 60_000 })
      expect(text).toMatch(/\r\ncache-control: (no-store|private, no-cache)\r\n/i)
      expect(text).toMatch(/\r\nx-content-type-options: nosniff\r\n/i)
    }
  },
)

test.each(names)(
  '%s answers what comes before bytes that are not a request, and refuses these',
  async name => {
    const { address, get } = serverOf(name)
    for (const bytes of [
      'garbage\r\n\r\n',
      'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n',
      get.replace('Host', 'A : b\r\nHost'),
      get.replace('Host', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\nHost'),
    ]) {
      const heard = await talk(address, get + get + get + bytes, { timeoutMs: 60_000 })
      expect([statusesOf(heard), heard.closed]).toEqual([[200, 200, 200, 400], true])
    }
  },
)

test('a method that is unknown is refused by its path, in however many segments its line comes', async () => {
  const { address } = serverOf('the API')
  for (const [path, status] of [
    [poll, 405],
    ['/nowhere', 404],
  ] as const) {
    const bytes = requestBytes('BREW', path)
    for (const at of [1, 4, 5, bytes.indexOf('HTTP'), bytes.indexOf('Host')]) {
      const socket = open(address)
      const heard = listenTo(socket)
      socket.write(bytes.slice(0, at))
      // What another connection gets shows that the server has read it.
      await tally.get('/problems/unauthorized')
      socket.write(bytes.slice(at))
      await once(socket, 'end')
      socket.destroy()
      expect([at, statusesOf(heard)]).toEqual([at, [status]])
      expect(heard.text).toContain(`"instance":"${path}"`)
    }
  }
})

test('bytes that cannot become a request are refused at once, what may become one at its end', async () => {
  const { address, get } = serverOf('the API')
  const tooLong = `\rBREW /${'a'.repeat(17_000)} HTTP/1.1\r\n\r\n${get}`
  for (const bytes of ['\x16\x03\x01\x02', '{"a":1}', tooLong]) {
    const heard = await talk(address, bytes, { timeoutMs: 5_000 })
    expect([bytes, statusesOf(heard), heard.closed]).toEqual([bytes, [400], true])
  }
  const begun = 'BREW /api/v1/ev'
  const heard = await talk(address, begun, { halfClose: true, timeoutMs: 60_000 })
  expect([statusesOf(heard), heard.closed]).toEqual([[400], true])
  // The client's end comes while these bytes wait for the answer before them. Node refuses the second after its answer.
  const badBody = 'GET /%zz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n'
  for (const [bytes, statuses] of [
    [begun, [200, 400]],
    [badBody, [200, 400, 400]],
  ] as const) {
    const both = await talk(address, get + bytes, { halfClose: true, timeoutMs: 60_000 })
    expect([bytes, statusesOf(both), both.closed]).toEqual([bytes, statuses, true])
  }
})

test('the problem of a request with a bad or too large head names its path, in however many pieces it comes', async () => {
  const { address } = serverOf('the API')
  for (const [line, status] of [
    ['bad header', 400],
    [`X: ${'x'.repeat(20_000)}`, 431],
  ] as const) {
    for (const pieces of [
      [`GET ${poll} HTTP/1.1\r\n${line}\r\n\r\n`],
      [`GET ${poll}`, ` HTTP/1.1\r\n`, `${line}\r\n\r\n`],
    ]) {
      const socket = open(address)
      const heard = listenTo(socket)
      for (const piece of pieces) {
        socket.write(piece)
        // What another connection gets shows that the server has read it.
        await tally.get('/problems/unauthorized')
      }
      await expect.poll(() => statusesOf(heard)).toEqual([status])
      socket.destroy()
      expect(heard.text).toContain(`"instance":"${poll}"`)
    }
  }
})

// As a client sends targets to a proxy; RFC 9112, 3.2.2 has every server accept them.
test.each([
  ['GET', festival.path, 200],
  ['GET', `${festival.path}/analytics/kpis?areaId=1`, 200],
  ['GET', `${festival.path}/orders/nobody?x=1`, 404],
  ['GET', '/x/y?z=1', 404],
  ['GET', '/api/v1/events//orders', 404],
  ['GET', '', 404],
  ['GET', '?x=1', 404],
  ['POST', festival.path, 405],
  ['POST', '/nowhere', 404],
])('%s http://tally%s is answered as without the scheme and the host: %i', async (method, path, status) => {
  const { address, get } = serverOf('the API')
  const bytes = get.replace(`GET ${poll}`, `${method} http://tally${path}`)
  const heard = await talk(address, bytes, { halfClose: true })
  expect(statusesOf(heard)).toEqual([status])
  if (status >= 400) expect(heard.text).toContain(`"instance":"${path.split('?')[0] || '/'}"`)
  expect(/\r\nallow: GET, HEAD\r\n/i.test(heard.text)).toBe(status === 405)
})
