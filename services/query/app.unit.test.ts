import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openLogger, openMetrics } from '@tally/runtime'
import { expect, test } from 'vitest'
import { buildApp } from './app.ts'
import { queryMetrics } from './metrics.ts'

test('a connection whose request is answered after closing has begun does not hold the closing up', async () => {
  const judged = Promise.withResolvers<undefined>()
  const asked = Promise.withResolvers<void>()
  const authenticate = () => {
    asked.resolve()
    return judged.promise
  }
  const { app } = await buildApp({ authenticator: { authenticate }, readers: {} } as never, {
    edition: 'cloud',
    corsOrigins: [],
    maxConnections: 100,
    logger: openLogger('query', 'silent'),
    metrics: queryMetrics(openMetrics('query')),
    counts: { note() {} },
  })
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
