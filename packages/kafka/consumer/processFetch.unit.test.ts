import { createLogger } from '@tally/platform'
import { expect, test } from 'vitest'
import type { ConsumeOptions, RecordBatch } from '../types.ts'
import { type Generation, processFetch } from './generation.ts'
import { newPartitions, type PartitionState } from './memory.ts'

async function* batches(): AsyncGenerator<RecordBatch> {
  yield { topic: 't', partition: 0, from: 0, next: 5, highWatermark: 10, records: [] }
  yield { topic: 't', partition: 0, from: 5, next: 10, highWatermark: 10, records: [] }
}

function given(onBatch: ConsumeOptions['onBatch']) {
  const generation: Generation = { over: new AbortController(), counts: undefined }
  const state = newPartitions(new Map([['t', [0]]])).get('t:0') as PartitionState
  Object.assign(state, { isHeld: false, next: 10 })
  const committed: number[] = []
  let isCurrent = true
  const deps = {
    options: { onBatch } as ConsumeOptions,
    isCurrent: () => isCurrent,
    commit: (_: PartitionState, next: number) => committed.push(next),
    closing: new AbortController().signal,
    logger: createLogger('test', 'silent'),
  }
  return {
    state,
    committed,
    run: () => processFetch(deps, { state, generation, seeks: state.seeks, from: 0 }, batches(), () => {}),
    takeAway() {
      generation.over.abort()
      isCurrent = false
    },
  }
}

test('batches are passed on one after the other, and committed', async () => {
  const { run, committed, state } = given(async ({ next }) => next)
  await run()
  expect(committed).toEqual([5, 10])
  expect(state).toMatchObject({ position: 10, next: 10, failures: 0 })
})

test('a batch that fails is read again, after a pause', async () => {
  const { run, committed, state } = given(async ({ from, next }) => {
    if (from === 5) throw new Error('Postgres is down')
    return next
  })
  await run()
  expect(committed).toEqual([5])
  expect(state).toMatchObject({ position: 5, next: 5, failures: 1, error: new Error('Postgres is down') })
  expect(state.pausedUntilMs).toBeGreaterThan(performance.now())
})

test('a batch that fails or ends after its partition was taken away leaves nothing behind', async () => {
  for (const end of [Promise.reject(new Error('too late')), Promise.resolve(5)]) {
    const { run, takeAway, committed, state } = given(async () => {
      takeAway()
      return end
    })
    await run()
    expect(committed).toEqual([])
    expect(state).toMatchObject({ position: 0, next: 10, failures: 0, error: undefined })
  }
})

test('what was fetched before a seek or a hold is not passed on after it', async () => {
  for (const change of [{ seeks: 1 }, { isHeld: true }]) {
    const passed: number[] = []
    const { run, state } = given(async ({ from, next }) => {
      passed.push(from)
      Object.assign(state, change)
      return next
    })
    await run()
    expect(passed).toEqual([0])
  }
})
