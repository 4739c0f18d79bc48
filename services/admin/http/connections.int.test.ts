import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, openFixture } from '../test/fixture.ts'

let fixture: Fixture
let port: number
beforeAll(async () => {
  fixture = await openFixture({ maxConnections: 3 })
  port = Number(new URL(await fixture.app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => fixture.close())

async function open(beginning = '') {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write(beginning)
  return socket.resume()
}

test('a connection whose request never ends its headers or its body is closed after 10 s', async () => {
  const began = performance.now()
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10'
  const sockets = [
    await open('GET /sign-in HTTP/1.1\r\nHost: a\r\n'),
    await open(`POST /sign-in HTTP/1.1\r\nHost: a\r\n${form}\r\n\r\n`),
  ]
  await Promise.all(sockets.map(socket => once(socket, 'close')))
  const tookMs = performance.now() - began
  expect(tookMs).toBeGreaterThan(9_000)
  expect(tookMs).toBeLessThan(25_000)
})

test('a browser whose cookies of other applications are too many for a request reads what to do', async () => {
  const socket = await open(`GET / HTTP/1.1\r\nHost: a\r\nCookie: a=${'v'.repeat(20_000)}\r\n\r\n`)
  expect(String((await once(socket, 'data'))[0])).toMatch(
    /^HTTP\/1\.1 431 [\s\S]+delete the cookies of this host/,
  )
})

test('a body that is not a form is refused, before anything reads it', async () => {
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=a']) {
    const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin' }
    const { statusCode } = await fixture.app.inject({
      method: 'POST',
      url: '/sign-in',
      headers,
      payload: '{}',
    })
    expect([type, statusCode]).toEqual([type, 415])
  }
})

test('a connection beyond ADMIN_MAX_CONNECTIONS is closed at once, and those before it are served', async () => {
  const kept = [await open(), await open(), await open()]
  await once(await open(), 'close')
  const reply = once(kept[0] ?? (await open()), 'data')
  kept[0]?.write('GET /sign-in HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String((await reply)[0])).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of kept) socket.destroy()
})
