import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { drain } from './server.ts'

test('a server that drains answers as before, and at the end closes each connection with its answer, however long a direct one takes', async () => {
  const server = createServer((_request, response) => response.end('answer')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connectionOf = async () =>
    (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).headers.get('connection')

  let isStopped = false
  const draining = drain(server, 2_000, () => {
    isStopped = true
    return new Promise(() => {})
  })
  expect(await connectionOf()).toBe('keep-alive')
  expect(isStopped).toBe(false)
  await expect.poll(connectionOf).toBe('close')
  expect(isStopped).toBe(true)
  await draining
  expect(await connectionOf()).toBe('close')
})
