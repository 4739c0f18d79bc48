import { randomUUID } from 'node:crypto'
import type { AccessKeys } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { RedisKeys } from '@tally/publication'
import { beforeEach, expect, test, vi } from 'vitest'
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
const redis = { askBatch: hanging } as unknown as QueryRedis
const sent: number[] = []
const deadlines: { sinceMs: number; late: () => void }[] = []
let isOpen: boolean
/** Its deadlines pass when a test says so. */
const breaker = {
  isOpen: () => isOpen,
  trip() {
    isOpen = true
  },
  deadline(sinceMs: number, late: () => void) {
    deadlines.push({ sinceMs, late })
    return () => true
  },
  noteWrite() {},
} as unknown as Parameters<typeof createRequestBatches>[0]['breaker']

let batches: ReturnType<typeof createRequestBatches>
beforeEach(() => {
  isOpen = false
  sent.length = 0
  deadlines.length = 0
  const onBatch = (requests: number) => sent.push(requests)
  batches = createRequestBatches({ redis, keys, topics: [], breaker, onBatch }, limits)
})

const poll = (onPolled = () => {}) =>
  batches.poll(
    batches.pollOf({
      organizationId: randomUUID() as OrganizationId,
      eventId: randomUUID() as EventId,
      shard: 0,
    }),
    onPolled,
  )
const afterLoop = () => new Promise(setImmediate)

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
  await afterLoop()
  expect(sent).toEqual([32, 32])
})

test('a batch of fewer than 32 requests waits for the one before, for a few milliseconds', async () => {
  poll()
  await afterLoop()
  const sinceMs = performance.now()
  pollTogether(3)
  batches.takeRequest(randomUUID() as OrganizationId)
  await afterLoop()
  expect(sent).toEqual([1])
  await vi.waitFor(() => expect(sent).toEqual([1, 4]))
  expect(performance.now() - sinceMs).toBeGreaterThan(4)
})

test('a batch that is held goes out once it has 32 requests of any kind', async () => {
  poll()
  await afterLoop()
  poll()
  await afterLoop()
  for (let requests = 0; requests < 31; requests++) batches.takeRequest(randomUUID() as OrganizationId)
  await afterLoop()
  expect(sent).toEqual([1, 32])
})

test('the time for which a batch is held is counted as that of Redis', async () => {
  poll()
  await afterLoop()
  poll()
  const sinceMs = performance.now()
  await vi.waitFor(() => expect(sent).toEqual([1, 1]))
  expect(deadlines[1]?.sinceMs).toBeLessThan(performance.now() - 4)
  expect(deadlines[1]?.sinceMs).toBeGreaterThan(sinceMs - 1)
})

/** Some batches of 32 polls each; returns the numbers of those that got an answer, each once. */
async function pollInBatches(count: number): Promise<number[]> {
  const told: number[] = []
  for (let number = 1; number <= count; number++) {
    pollTogether(31)
    poll(() => told.push(number))
    await afterLoop()
  }
  return told
}

test('the time in which a batch waits for others is not counted as that of Redis', async () => {
  await pollInBatches(3)
  expect(sent).toEqual([32, 32])
  const beforeMs = performance.now()
  deadlines[0]?.late()
  await afterLoop()
  expect(sent).toEqual([32, 32, 32])
  expect(deadlines[2]?.sinceMs).toBeGreaterThanOrEqual(beforeMs)
})

test('when a second batch in a row is too slow, no other waits any longer', async () => {
  const told = await pollInBatches(3)
  deadlines[0]?.late()
  await afterLoop()
  poll(() => told.push(4))
  expect(told).toEqual([1])
  deadlines[1]?.late()
  expect(told).toEqual([1, 2, 3, 4])
})

test('poll returns before it calls back, even if Redis is not asked', async () => {
  isOpen = true
  let told = 0
  for (let polls = 0; polls < 100; polls++) {
    poll(() => {
      told += 1
    })
    expect(told).toBe(0)
  }
  await afterLoop()
  expect(told).toBe(100)
  expect(sent).toEqual([])
})
