import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  answered,
  newMemory,
  newPartitions,
  type PartitionState,
  refusePartition,
  stateOf,
} from './memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const given = (before?: Map<string, PartitionState>) =>
  newPartitions(new Map([['t', [0]]]), before).get('t:0') as PartitionState
const error = new Error('no leader')

test('a refusal that lasts longer than an election shows, until the broker answers, also after a rebalance', () => {
  const state = given()
  refusePartition(state, error)
  vi.advanceTimersByTime(29_000)
  refusePartition(state, error)
  expect(state.error).toBeUndefined()
  vi.advanceTimersByTime(2_000)
  refusePartition(state, error)
  expect(state.error).toBe(error)
  for (const one of [given(new Map([['t:0', state]])), state]) {
    answered(one)
    expect(one).toMatchObject({ error: undefined, refusedSinceMs: undefined })
  }
})

test('an answer does not hide that a batch fails', () => {
  const state = given()
  refusePartition(state, error, { isShownAtOnce: true })
  expect(state.error).toBe(error)
  state.failures = 1
  answered(state)
  expect(state.error).toBe(error)
})

test.each([3_600_000, -3_600_000])(
  'how long Kafka is silent does not depend on a clock that jumps by %i ms',
  jump => {
    const memory = newMemory()
    vi.advanceTimersByTime(2_000)
    vi.setSystemTime(Date.now() + jump)
    expect(stateOf(memory).lastFetchMs).toBe(2_000)
  },
)
