import { createLogger } from '@tally/platform'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ConsumeOptions, RecordBatch, StartOffsets } from '../types.ts'
import { beginGeneration, createPartitionQueues, type Generation, processFetch } from './generation.ts'
import { newMemory, newPartitions, type PartitionState } from './memory.ts'

test('onAssigned runs for one generation after the other, and where the last one begins counts', async () => {
  const memory = newMemory()
  const first = Promise.withResolvers<StartOffsets>()
  const onAssigned = vi.fn<ConsumeOptions['onAssigned']>()
  onAssigned.mockReturnValueOnce(first.promise)
  onAssigned.mockResolvedValueOnce(new Map([['orders', new Map([[1, 7]])]]))
  const begin = (partition: number) => {
    const joined = { assignment: new Map([['orders', [partition]]]), counts: undefined }
    const deps = { options: { onAssigned } as Partial<ConsumeOptions> as ConsumeOptions, memory }
    return beginGeneration({ ...deps, logger: createLogger('test', 'silent') }, joined as never)
  }

  const before = begin(0)
  await vi.waitFor(() => expect(onAssigned).toHaveBeenCalled())
  before.over.abort()
  begin(1)
  await new Promise(setImmediate)
  expect(onAssigned).toHaveBeenCalledTimes(1)
  first.resolve(new Map([['orders', new Map([[0, 3]])]]))
  await vi.waitFor(() => expect(memory.begun).toBe(true))
  const read = [...memory.partitions.values()].map(({ partition, next, isHeld }) => [partition, next, isHeld])
  expect(read).toEqual([[1, 7, false]])
})

async function* batches(): AsyncGenerator<RecordBatch> {
  yield { topic: 't', partition: 0, from: 0, next: 5, lastStableOffset: 10, records: [] }
  yield { topic: 't', partition: 0, from: 5, next: 10, lastStableOffset: 10, records: [] }
}

function fetched(onBatch: ConsumeOptions['onBatch']) {
  const generation: Generation = { over: new AbortController(), counts: undefined }
  const state = newPartitions(new Map([['t', [0]]])).get('t:0') as PartitionState
  Object.assign(state, { isHeld: false, next: 10 })
  const committed: number[] = []
  let isCurrent = true
  const deps = {
    options: { onBatch } as ConsumeOptions,
    isCurrent: () => isCurrent,
    commit: (_: PartitionState, next: number) => committed.push(next),
    logger: createLogger('test', 'silent'),
  }
  return {
    state,
    generation,
    committed,
    run: () => processFetch(deps, { state, generation, seeks: state.seeks, from: 0 }, batches(), () => {}),
    takeAway() {
      generation.over.abort()
      isCurrent = false
    },
  }
}

test('batches are passed on one after the other, and committed', async () => {
  const { run, committed, state } = fetched(async ({ next }) => next)
  await run()
  expect(committed).toEqual([5, 10])
  expect(state).toMatchObject({ position: 10, next: 10, failures: 0 })
})

test('a batch that fails is read again, after a pause', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  const { run, committed, state } = fetched(async ({ from, next }) => {
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
    const { run, takeAway, committed, state } = fetched(async () => {
      takeAway()
      return end
    })
    await run()
    expect(committed).toEqual([])
    expect(state).toMatchObject({ position: 0, next: 10, failures: 0, error: undefined })
  }
})

test('what was fetched before a seek, a hold or a rebalance is not passed on after it', async () => {
  for (const change of [{ seeks: 1 }, { isHeld: true }, { isOver: true }]) {
    const passed: number[] = []
    const { run, state, generation } = fetched(async ({ from, next }) => {
      passed.push(from)
      Object.assign(state, change)
      if ('isOver' in change) generation.over.abort()
      return next
    })
    await run()
    expect(passed).toEqual([0])
  }
})

/** Queues, and work that ends when `end` is called. */
function queuesOf(limit: number) {
  const queues = createPartitionQueues(limit)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (name: string) =>
    queues.begin(name[0] as string, () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      return promise
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { queues, begun, begin, end }
}

const isOver = (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise(resolve => setImmediate(resolve, false))])

test('work on one partition is done one after the other, and other partitions do not wait for it', async () => {
  const { begun, begin, end } = queuesOf(2)
  expect(['a1', 'a2', 'b1'].map(begin)).toEqual([true, false, true])
  expect(begun).toEqual(['a1', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('at most `limit` pieces of work are in progress, and the one that waits longest is next', async () => {
  const { begun, begin, end } = queuesOf(2)
  for (const name of ['a1', 'b1', 'c1', 'd1']) begin(name)
  expect(begun).toEqual(['a1', 'b1'])
  await end('b1')
  expect(begun).toEqual(['a1', 'b1', 'c1'])
})

test('idle resolves when nothing is in progress or queued, again and again', async () => {
  const { begin, end, queues } = queuesOf(1)
  await queues.idle()
  for (const round of ['1', '2']) {
    for (const partition of ['a', 'b']) begin(partition + round)
    const idle = queues.idle()
    await end(`a${round}`)
    expect(queues.isIdle()).toBe(false)
    expect(await isOver(idle)).toBe(false)
    await end(`b${round}`)
    await idle
  }
})
