import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Session } from '../signIn/sessions.ts'
import { limitDownloads } from './downloads.ts'
import { PageProblem } from './problem.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = fastify({ forceCloseConnections: true })
  app.decorateRequest('session', undefined)
  app.addHook('onRequest', async request => {
    request.session = { organizationId: request.headers['x-organization'] } as unknown as Session
  })
  limitDownloads(app)
  app.get('/a.csv', (_, reply) => reply.send(Readable.from(endless())))
  app.get('/short.csv', (_, reply) => reply.send(short))
  app.get('/page', async () => 'a page')
  app.setErrorHandler((error, _, reply) => {
    const { status, retryAfterSeconds } = error as PageProblem
    expect(error).toBeInstanceOf(PageProblem)
    return reply.code(status).header('Retry-After', String(retryAfterSeconds)).send()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

function* endless() {
  for (;;) yield 'a line\r\n'.repeat(1_000)
}

let linesRead = 0
const short = new Readable({
  read() {
    linesRead += 1
    this.push(linesRead > 1_000 ? null : 'a line\r\n')
  },
})

/** Asks for a file and reads its head; the rest stays unread. */
async function download(organization: string, path = '/a.csv'): Promise<{ socket: Socket; head: string }> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-Organization: ${organization}\r\n\r\n`)
  const [head] = await once(socket, 'data')
  return { socket: socket.pause(), head: String(head) }
}

const isSent = ({ head }: { head: string }) => head.startsWith('HTTP/1.1 200')

test('an organization gets four files at a time, a process sends sixteen, and pages do not count', async () => {
  const open = []
  for (let count = 0; count < 4; count += 1) open.push(await download('one'))
  expect(open.every(isSent)).toBe(true)

  const refused = await download('one')
  expect(refused.head).toMatch(/^HTTP\/1.1 503/)
  expect(refused.head).toMatch(/retry-after: 5\r\n/i)
  expect(isSent(await download('one', '/page'))).toBe(true)

  for (const other of ['two', 'three'])
    for (let count = 0; count < 4; count += 1) open.push(await download(other))
  // Then one each, so that three organizations cannot hold up all others.
  for (const other of ['four', 'five', 'six', 'seven']) {
    open.push(await download(other))
    expect(isSent(await download(other))).toBe(false)
  }
  expect(open.every(isSent)).toBe(true)
  expect(isSent(await download('eight'))).toBe(false)

  // A client that goes away makes room for others.
  for (const { socket } of open) socket.destroy()
  await expect.poll(async () => isSent(await download('eight')), { timeout: 120_000 }).toBe(true)
})

test('a HEAD does not read the file, which would go on after its answer has ended', async () => {
  const { statusCode } = await app.inject({ method: 'HEAD', url: '/short.csv' })
  if (!short.closed) await once(short, 'close')
  expect([statusCode, linesRead]).toEqual([200, 0])
})
