import { randomUUID } from 'node:crypto'
import type { AccessKeys } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { RedisKeys } from '@tally/publication'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { QueryRedis } from './askBatch.ts'
import { createRequestBatches } from './requestBatches.ts'

const idKey = (id: string | number) => `{${id}}`
const keys = {
  window: idKey,
  organization: idKey,
  event: idKey,
  shard: idKey,
} as unknown as RedisKeys & AccessKeys
const limits = { Trial: 1, ActiveDayPass: 1, Inactive: 1 }
const hanging = () => new Promise<string>(() => {})
const askBatch = vi.fn(hanging)
const redis = { askBatch } as unknown as QueryRedis
const sent: number[] = []
const closed = { isOpen: false, timeoutMs: 80, refusesWrites: false }
const breaker = { ...closed, trip: (): void => void Object.assign(breaker, { isOpen: true }) }

let batches: ReturnType<typeof createRequestBatches>
beforeEach(() => {
  vi.useFakeTimers()
  Object.assign(breaker, closed)
  sent.length = 0
  const onBatch = (requests: number) => sent.push(requests)
  batches = createRequestBatches({ redis, keys, topics: [], breaker: breaker as never, onBatch }, limits)
})
afterEach(() => vi.useRealTimers())

const poll = (onPolled = () => {}) =>
  batches.poll(
    batches.pollOf({
      organizationId: randomUUID() as OrganizationId,
      eventId: randomUUID() as EventId,
      shard: 0,
    }),
    onPolled,
  )
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const pollTogether = (count: number) => {
  for (let polls = 0; polls < count; polls++) poll()
}

test('a batch does not wait for more than 32 polls, if fewer than two are unanswered', async () => {
  pollTogether(31)
  expect(sent).toEqual([])
  poll()
  expect(sent).toEqual([32])
  pollTogether(33)
  expect(sent).toEqual([32, 32])
  pollTogether(100)
  await pass(0)
  expect(sent).toEqual([32, 32])
})

test('a batch of fewer than 32 requests waits for the one before, for a few milliseconds', async () => {
  poll()
  await pass(0)
  pollTogether(3)
  batches.takeRequest(randomUUID() as OrganizationId)
  await pass(4)
  expect(sent).toEqual([1])
  await pass(1)
  expect(sent).toEqual([1, 4])
})

test('a batch that is held goes out once it has 32 requests of any kind', async () => {
  poll()
  await pass(0)
  poll()
  await pass(0)
  for (let requests = 0; requests < 31; requests++) batches.takeRequest(randomUUID() as OrganizationId)
  await pass(0)
  expect(sent).toEqual([1, 32])
  await pass(5)
  expect(sent).toEqual([1, 32])
})

test('the time for which a batch is held is counted as that of Redis', async () => {
  poll()
  await pass(0)
  const onPolled = vi.fn()
  poll(onPolled)
  await pass(80)
  expect([sent, onPolled.mock.calls.length]).toEqual([[1, 1], 0])
  await pass(1)
  expect(onPolled.mock.calls).toEqual([[{ index: 0 }]])
})

/** A batch of 32 polls. */
const pollAtOnce = (onPolled: () => void) => {
  pollTogether(31)
  poll(onPolled)
}

test('the time in which a batch waits for others is not counted as that of Redis', async () => {
  const told: number[] = []
  for (const [index, timeoutMs] of [80, 1_500, 80].entries()) {
    breaker.timeoutMs = timeoutMs
    pollAtOnce(() => told.push(index))
  }
  await pass(82)
  expect([sent, told]).toEqual([[32, 32, 32], [0]])
  await pass(80)
  expect(told).toEqual([0])
  await pass(2)
  expect(told).toEqual([0, 2, 1])
})

test('when a second batch in a row is too slow, no other waits any longer, and Redis is not asked', async () => {
  const told: number[] = []
  for (const number of [1, 2, 3]) {
    pollAtOnce(() => told.push(number))
    await pass(10)
  }
  await pass(55)
  poll(() => told.push(4))
  const read = expect(batches.event(randomUUID() as EventId, 0)).rejects.toThrow('not asked')
  expect(told).toEqual([1])
  await pass(6)
  expect([told, sent]).toEqual([
    [1, 2, 3, 4],
    [32, 32, 32],
  ])
  await read
})

test('a batch that is answered in time, between two that are not, leaves the breaker closed', async () => {
  for (const answer of [hanging, async () => '-\n- -\n- -', hanging]) {
    askBatch.mockImplementationOnce(answer)
    poll()
    await pass(100)
    expect(breaker.isOpen).toBe(false)
  }
})

test('poll returns before it calls back, even if Redis is not asked', async () => {
  breaker.isOpen = true
  let told = 0
  for (let polls = 0; polls < 100; polls++) {
    poll(() => {
      told += 1
    })
    expect(told).toBe(0)
  }
  await pass(0)
  expect(told).toBe(100)
  expect(sent).toEqual([])
})
