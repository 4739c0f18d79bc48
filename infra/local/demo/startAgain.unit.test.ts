import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, preferPort } from '../servers/ports.ts'
import { createStartAgain } from './startAgain.ts'
import { type RunContext, startService } from './tally.ts'

function watch({ waitMs = 0 } = {}) {
  const said: string[] = []
  const gaveUp: string[] = []
  const ends = new AbortController()
  const startAgain = createStartAgain({
    log: line => void said.push(line),
    giveUp: error => void gaveUp.push(error.message),
    signal: ends.signal,
    waitMs,
  })
  return { said, gaveUp, ends, startAgain }
}

test('a part that ended by itself is started again, and both are said', async () => {
  const { said, gaveUp, startAgain } = watch()
  await startAgain('redis ended by itself (signal SIGKILL)', async () => {})
  expect(said).toEqual([
    'redis ended by itself (signal SIGKILL)\nStarting redis again in 0 s ...',
    expect.stringMatching(/^redis runs again \([\d.]+ s\)$/),
  ])
  expect(gaveUp).toEqual([])
})

const startQuery = (port: number, onDeath: RunContext['onDeath'] = () => {}) => {
  const logFolder = mkdtempSync(join(tmpdir(), 'tally-logs-'))
  onTestFinished(() => rmSync(logFolder, { recursive: true }))
  const service = { args: ['no-such-command'], readyAt: `http://127.0.0.1:${port}/readyz` }
  return startService('query', service, { env: {}, logFolder, signal: new AbortController().signal, onDeath })
}

test('of two starts at the same time one gets a port, and a service does not start on a port that is taken', async () => {
  const port = await freePort()
  expect(await preferPort(port)).toBe(port)
  expect(await preferPort(port)).not.toBe(port)
  const other = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const sentence = `query cannot start: something else listens on 127.0.0.1:${port}`
  await expect(startQuery(port)).rejects.toThrow(sentence)
})

test('a service that ends before it is ready is not reported as ready, nor as running again', async () => {
  const { said, startAgain } = watch()
  const { promise, resolve } = Promise.withResolvers<() => Promise<unknown>>()
  const { isReady, stop } = await startQuery(await freePort(), (_, start) => resolve(start))
  expect(isReady).toBe(false)
  await startAgain('query ended by itself', await promise)
  expect(said).toEqual(['query ended by itself\nStarting query again in 0 s ...'])
  await stop()
})

test('a part that ends a fourth time in a minute, or does not start, is given up; another one is not', async () => {
  const { gaveUp, startAgain } = watch()
  for (let time = 0; time < 4; time++) await startAgain('query ended by itself', async () => {})
  await startAgain('admin ended by itself', async () => {})
  await startAgain('kafka ended by itself', () => Promise.reject(new Error('no room')))
  expect(gaveUp).toEqual(['query ended by itself\nquery ends again and again', 'no room'])
})

test('nothing is started again once all is to stop, also if that is while it waits', async () => {
  const { said, gaveUp, ends, startAgain } = watch({ waitMs: 1e9 })
  const mustNotStart = () => Promise.reject(new Error('must not start'))
  const waiting = startAgain('kafka ended by itself', mustNotStart)
  ends.abort()
  await waiting
  await startAgain('redis ended by itself', mustNotStart)
  expect({ said, gaveUp }).toEqual({
    said: ['kafka ended by itself\nStarting kafka again in 1000000 s ...'],
    gaveUp: [],
  })
})
