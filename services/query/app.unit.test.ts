import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger, createMetrics } from '@tally/platform'
import { expect, test, vi } from 'vitest'
import { buildApp } from './app.ts'
import { queryMetrics } from './http/metrics.ts'
import { allowanceOf } from './limits/limitDecision.ts'

const options = {
  edition: 'cloud',
  corsOrigins: [],
  contact: undefined,
  maxConnections: 100,
  idleTimeoutMs: 620_000,
  logger: createLogger('query', 'silent'),
  metrics: queryMetrics(createMetrics('query')),
  counts: { note() {} },
} as const

test('a kept connection says after how much idle time it is closed, and no header of a PROXY protocol is read', async () => {
  const { app } = await buildApp({ readers: {} } as never, options as never)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = (bytes: string | Buffer) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(bytes)
    return text(socket)
  }
  const request = 'GET /none HTTP/1.1\r\nHost: tally\r\n\r\n'
  expect(await answer(request)).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\nKeep-Alive: timeout=620\r\n/)
  expect(await answer(`PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\n${request}`)).toMatch(/^HTTP\/1\.1 400 /)
  const second = Buffer.concat([
    Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000201c000020212670050', 'hex'),
    Buffer.from(request),
  ])
  expect(await answer(second)).toMatch(/^HTTP\/1\.1 400 /)
  await app.close()
})

test('a connection waits for the end of the line of an unknown method once, in however many segments it comes', async () => {
  const { app } = await buildApp({ readers: {} } as never, options as never)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const served = once(app.server, 'connection') as Promise<[Socket]>
  const socket = connect({ port: (app.server.address() as AddressInfo).port, noDelay: true })
  const answer = text(socket)
  const [connection] = await served
  socket.write('B')
  for (const byte of 'REW /none/of/these') {
    const failed = once(app.server, 'clientError')
    socket.write(byte)
    await failed
  }
  expect(connection.listenerCount('end')).toBeLessThan(5)
  socket.write(' HTTP/1.1\r\n')
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  await app.close()
})

test('a request that is allowed is answered, even if the read that it joins was refused with another one', async () => {
  const decision = { allowed: true, limit: 2, remaining: 1, resetMs: 60_000 }
  const refused = allowanceOf(Promise.resolve({ ...decision, allowed: false }))
  const read = vi.fn((_id: string, allowance: Promise<void>) => allowance.then(() => []))
  const key = { organizationId: 'o', eventId: null, scopes: ['events:read'] }
  const authenticator = { authenticate: () => key, used() {} }
  const limiter = { take: async () => decision }
  const batches = {
    coalesce: ({ read }: { read: (allowance: Promise<void>) => unknown }) => read(refused),
  }
  const deps = { authenticator, limiter, batches, readers: { list: { read } } }
  const { app } = await buildApp(deps as never, options as never)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const { status } = await fetch(`${address}/api/v1/events`, { headers: { 'X-Api-Key': 'a token' } })
  expect([status, read.mock.calls.length]).toEqual([200, 2])
  await app.close()
})

test('the error of requests that fail unexpectedly is logged once a minute', async () => {
  const logger = createLogger('query', 'silent')
  const logged = vi.spyOn(logger, 'error')
  const authenticate = () => Promise.reject(new RangeError('the sum is too large'))
  const deps = { authenticator: { authenticate }, readers: {} }
  const { app } = await buildApp(deps as never, { ...options, logger } as never)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  for (let asked = 0; asked < 3; asked++) {
    const { status } = await fetch(`${address}/api/v1/events`, { headers: { 'X-Api-Key': 'a token' } })
    expect(status).toBe(500)
  }
  expect(logged).toHaveBeenCalledOnce()
  await app.close()
})

test('a connection whose request is answered after closing has begun does not hold the closing up', async () => {
  const judged = Promise.withResolvers<undefined>()
  const asked = Promise.withResolvers<void>()
  const authenticate = () => {
    asked.resolve()
    return judged.promise
  }
  const { app } = await buildApp({ authenticator: { authenticate }, readers: {} } as never, options as never)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const answered = Promise.withResolvers<number | undefined>()
  get({ port, path: '/api/v1/events', agent, headers: { 'X-Api-Key': 'a token' } }, response => {
    response.resume().on('end', () => answered.resolve(response.statusCode))
  }).on('error', answered.reject)
  await asked.promise

  const closed = app.close()
  await new Promise(setImmediate)
  judged.resolve(undefined)
  expect(await answered.promise).toBe(401)
  const began = performance.now()
  await closed
  expect(performance.now() - began).toBeLessThan(2_000)
  agent.destroy()
})
