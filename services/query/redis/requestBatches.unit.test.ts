import { randomUUID } from 'node:crypto'
import type { AccessKeys, AccessRedis } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { ReadModelRedis, RedisKeys } from '@tally/read-models'
import { beforeEach, expect, test } from 'vitest'
import { openRequestBatches } from './requestBatches.ts'

const idKey = (id: string | number) => `{${id}}`
const keys = {
  window: idKey,
  organization: idKey,
  event: idKey,
  shard: idKey,
} as unknown as RedisKeys & AccessKeys
const limits = { Trial: 1, ActiveDayPass: 1, Inactive: 1 }
const hanging = () => new Promise<string>(() => {})
const redis = { takeFromEach: hanging, readVersions: hanging } as unknown as AccessRedis & ReadModelRedis
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
} as unknown as Parameters<typeof openRequestBatches>[0]['breaker']

let batches: ReturnType<typeof openRequestBatches>
beforeEach(() => {
  isOpen = false
  sent.length = 0
  deadlines.length = 0
  const onBatch = (requests: number) => sent.push(requests)
  batches = openRequestBatches({ redis, keys, topics: [], breaker, onBatch }, limits)
})

const poll = (onPolled = () => {}) =>
  batches.poll(
    { organizationId: randomUUID() as OrganizationId, eventId: randomUUID() as EventId, shard: 0 },
    onPolled,
  )
const afterLoop = () => new Promise(setImmediate)

test('a batch does not wait for more than 32 polls, if fewer than two are unanswered', async () => {
  for (let polls = 0; polls < 31; polls++) poll()
  expect(sent).toEqual([])
  poll()
  expect(sent).toEqual([32])
  poll()
  await afterLoop()
  expect(sent).toEqual([32, 1])
  for (let polls = 0; polls < 100; polls++) poll()
  await afterLoop()
  expect(sent).toEqual([32, 1])
})

/** One poll in each of some batches; returns the numbers of those that were told. */
async function pollInBatches(count: number): Promise<number[]> {
  const told: number[] = []
  for (let number = 1; number <= count; number++) {
    poll(() => told.push(number))
    await afterLoop()
  }
  return told
}

test('the time in which a batch waits for others is not counted as that of Redis', async () => {
  await pollInBatches(3)
  expect(sent).toEqual([1, 1])
  const beforeMs = performance.now()
  deadlines[0]?.late()
  await afterLoop()
  expect(sent).toEqual([1, 1, 1])
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
