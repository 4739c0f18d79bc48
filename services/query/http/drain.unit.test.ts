import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { drain } from './drain.ts'

test('a server that drains answers as before, and at the end closes each connection with its answer, once the last direct one is out', async () => {
  const server = createServer((_request, response) => response.end('answer')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connectionOf = async () =>
    (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).headers.get('connection')

  const stopped = Promise.withResolvers<void>()
  let isDrained = false
  const draining = drain(server, 2_000, () => stopped.promise).then(() => {
    isDrained = true
  })
  expect(await connectionOf()).toBe('keep-alive')
  await expect.poll(connectionOf, { timeout: 10_000 }).toBe('close')
  expect(isDrained).toBe(false)
  stopped.resolve()
  await draining
  expect(await connectionOf()).toBe('close')
})
