import { setTimeout as sleep } from 'node:timers/promises'
import type { EachBatchPayload } from 'kafkajs'
import { expect, test, vi } from 'vitest'
import { batchBytes, fetchOf } from '../batches/testing.ts'
import type { KafkaConnection } from '../client/connection.ts'
import type { ConsumeOptions } from '../types.ts'
import { newMemory, type Tuning } from './memory.ts'
import { openSession } from './session.ts'

/** The part of kafkajs's consumer that a session uses; the test does what a broker would do. */
const fake = vi.hoisted(() => ({ consumer: {} as Record<string, unknown> }))
vi.mock('../client/connection.ts', () => ({
  inside: () => ({ kafka: { consumer: () => fake.consumer }, logger: { info() {}, warn() {} } }),
}))
vi.mock('./shardAssigner.ts', () => ({ assignerWith: () => ({}) }))

type Join = (event: { payload: { memberAssignment: Record<string, number[]> } }) => void

function given(options: Pick<ConsumeOptions, 'onBatch' | 'onAssigned'>) {
  const listeners = new Map<string, unknown>()
  let eachBatch: (payload: EachBatchPayload) => Promise<void> = async () => {}
  let isSought = false
  fake.consumer = {
    on: (name: string, listener: unknown) => listeners.set(name, listener),
    connect: async () => {},
    subscribe: async () => {},
    run: async (of: { eachBatch: typeof eachBatch }) => {
      eachBatch = of.eachBatch
    },
    seek() {
      isSought = true
    },
    commitOffsets: async () => {},
    disconnect: async () => {},
  }
  const memory = newMemory()
  const tuning = { concurrency: 4, heartbeatIntervalMs: 20 } as Tuning
  const whole = { groupId: 'g', topics: ['t'], onCrash() {}, ...options } as ConsumeOptions
  openSession({} as KafkaConnection, whole, tuning, memory)
  const resolved: number[] = []

  return {
    memory,
    resolved,
    async join(partitions: number[]) {
      const joined = listeners.get('consumer.group_join') as Join
      joined({ payload: { memberAssignment: { t: partitions } } })
      await sleep(5)
      // The fetch after a join starts at the sought offsets.
      isSought = false
    },
    hand: async (from: number, heartbeat = async () => {}) =>
      eachBatch({
        batch: fetchOf(
          await batchBytes({ firstOffset: from, records: Array(10).fill({ value: 'v' }) }),
          from,
        ),
        heartbeat,
        resolveOffset: (offset: string) => resolved.push(Number(offset)),
        isStale: () => isSought,
        pause: () => () => {},
      } as unknown as EachBatchPayload),
  }
}

test('a heartbeat sent before a join and refused after it does not end the new generation', async () => {
  const worked: number[] = []
  const first = Promise.withResolvers<number>()
  const session = given({
    onBatch: async ({ from, next }) => {
      worked.push(from)
      return from === 0 ? first.promise : next
    },
  })
  await sleep(1)
  await session.join([0])
  const heartbeat = Promise.withResolvers<void>()
  await session.hand(0, () => heartbeat.promise)
  await sleep(30)
  await session.join([0])
  heartbeat.reject(Object.assign(new Error('moved'), { type: 'NOT_COORDINATOR_FOR_GROUP' }))
  first.resolve(10)
  await sleep(5)
  await session.hand(10)
  await sleep(5)
  expect(worked).toEqual([0, 10])
})

test('a batch that fails after its partition was taken away leaves no error behind', async () => {
  const failing = Promise.withResolvers<number>()
  const session = given({ onBatch: () => failing.promise })
  await sleep(1)
  await session.join([0])
  await session.hand(0)
  await session.join([1])
  failing.reject(new Error('too late'))
  await sleep(5)
  expect(session.memory.batchErrors.entries()).toEqual([])
})

test('the next batch is not fetched before onAssigned has said where to start', async () => {
  const ready = Promise.withResolvers<undefined>()
  const worked: number[] = []
  const session = given({
    onAssigned: () => ready.promise,
    onBatch: async ({ from, next }) => {
      worked.push(from)
      return next
    },
  })
  await sleep(1)
  await session.join([0])
  const handed = session.hand(0)
  await sleep(5)
  expect(session.resolved).toEqual([])
  ready.resolve(undefined)
  await handed
  expect(session.resolved).toEqual([9])
  await vi.waitFor(() => expect(worked).toEqual([0]), 30_000)
})
