import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import '../client/kafkajs.ts'

type Queue = {
  silentMs: number
  giveUp: (error: Error) => void
  push(of: object): void
  maybeThrottle(ms: number): void
  scheduleRequestTimeoutCheck(): void
  waitForPendingRequests(): Promise<void>
  destroy(): void
}
const RequestQueue: new (options: object) => Queue = createRequire(import.meta.url)(
  'kafkajs/src/network/requestQueue/index.js',
)
const logger = { debug() {}, warn() {} }
const fetch = 1
const joinGroup = 11

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A connection on which these requests were sent, and why it was given up. */
function given(...apiKeys: number[]) {
  const queue = new RequestQueue({
    maxInFlightRequests: null,
    requestTimeout: 15_000,
    enforceRequestTimeout: true,
    broker: `broker-${Math.random()}:9092`,
    clientId: 'test',
    logger,
  })
  const reasons: string[] = []
  queue.giveUp = error => void reasons.push(error.message)
  queue.scheduleRequestTimeoutCheck()
  for (const [correlationId, apiKey] of apiKeys.entries()) {
    const entry = { apiKey, apiName: '', apiVersion: 1, correlationId, resolve() {}, reject() {} }
    queue.push({ entry, expectResponse: true, requestTimeout: 25_000, sendRequest() {} })
  }
  return { queue, reasons }
}

test('a connection without a byte for 4 s while it waits for an answer is given up', async () => {
  const { queue, reasons } = given(fetch)
  await vi.advanceTimersByTimeAsync(3_500)
  queue.silentMs = 0 // A byte has arrived.
  await vi.advanceTimersByTimeAsync(3_500)
  expect(reasons).toEqual([])
  await vi.advanceTimersByTimeAsync(700)
  expect(reasons[0]).toMatch(/has not answered for 4 s$/)
  queue.destroy()
})

test('a connection that waits for nothing, or for a request that may take longer, is kept', async () => {
  const [idle, joining] = [given(), given(fetch, joinGroup)]
  await vi.advanceTimersByTimeAsync(14_000)
  expect([...idle.reasons, ...joining.reasons]).toEqual([])
  for (const { queue } of [idle, joining]) queue.destroy()
})

test('time during which the process did not run does not count', async () => {
  const { queue, reasons } = given(fetch)
  await vi.advanceTimersByTimeAsync(1_000)
  vi.setSystemTime(Date.now() + 10_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(reasons).toEqual([])
  queue.destroy()
})

test('a connection is given up in time although the clock is set back', async () => {
  const { queue, reasons } = given(fetch)
  await vi.advanceTimersByTimeAsync(1_000)
  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(3_300)
  expect(reasons).toHaveLength(1)
  queue.destroy()
})

test('a throttled connection sends again although the clock is set back', async () => {
  const { queue } = given()
  queue.maybeThrottle(5_000)
  const sendRequest = vi.fn()
  const entry = { apiKey: fetch, apiName: '', apiVersion: 1, correlationId: 0, resolve() {}, reject() {} }
  queue.push({ entry, expectResponse: false, requestTimeout: 25_000, sendRequest })
  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(4_900)
  expect(sendRequest).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(31_000)
  expect(sendRequest).toHaveBeenCalledOnce()
  queue.destroy()
})

test('the end of a connection waits at most 1 s for answers', async () => {
  const { queue } = given(fetch)
  let isOver = false
  void queue.waitForPendingRequests().then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(900)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(200)
  expect(isOver).toBe(true)
  queue.destroy()
})
