import type { PartitionEnd } from '@tally/publication'
import { beforeEach, expect, test, vi } from 'vitest'
import { createAsOf } from './asOf.ts'
import type { WatchDeps } from './steps.ts'
import { watch } from './watch.ts'

let sleeps: number[]
beforeEach(() => {
  sleeps = []
})

// Short sleeps are over at once; the usual one lasts until it is aborted.
vi.mock('node:timers/promises', async original => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout(ms: number, _: undefined, { signal }: { signal: AbortSignal }) {
    sleeps.push(ms)
    if (ms < 400) return Promise.resolve()
    const aborted = Promise.withResolvers<never>()
    if (signal.aborted) aborted.reject(signal.reason)
    signal.addEventListener('abort', () => aborted.reject(signal.reason))
    return aborted.promise
  },
}))

test.for([
  { when: 'during a sleep', ticks: 4 },
  { when: 'during a tick', ticks: 5 },
])(
  'partitions that are assigned $when get their watermarks without the usual sleeps between two ticks',
  async ({ when, ticks }) => {
    const assigned = vi.fn(() => [])
    const watching = watch({ assigned } as Partial<WatchDeps> as WatchDeps)
    await vi.waitFor(() => expect(sleeps).toEqual([400]))
    if (when === 'during a tick')
      assigned.mockImplementationOnce(() => {
        watching.soon()
        return []
      })
    watching.soon()
    await vi.waitFor(() => expect(sleeps).toEqual([400, 50, 50, 400]))
    expect(assigned).toHaveBeenCalledTimes(ticks)
    await watching.stop()
  },
)

test('a late report of what is applied takes nothing back; a move does, and voids the ends noted before', () => {
  const asOf = createAsOf()
  const of = { topic: 'orders', partition: 0 }
  const end = { ...of, end: 120, atMs: 1_000 }
  asOf.applied(of, 120)
  asOf.noteEnds([end], 0)
  asOf.moved(of, 120)
  asOf.applied(of, 110)
  expect(asOf.reached()).toEqual([end])
  asOf.moved(of, 110)
  asOf.applied(of, 120)
  expect(asOf.reached()).toEqual([])
})

test('ends that were noted by the clock of another epoch are void', () => {
  const asOf = createAsOf()
  const of = { topic: 'orders', partition: 0 }
  const [before, later] = [1_000, 2_000].map(atMs => ({ ...of, end: 120, atMs })) as [
    PartitionEnd,
    PartitionEnd,
  ]
  asOf.applied(of, 120)
  asOf.enter(1)
  asOf.noteEnds([before], 1)
  asOf.enter(2)
  expect(asOf.reached()).toEqual([])
  asOf.noteEnds([before], 1)
  expect(asOf.reached()).toEqual([])
  asOf.noteEnds([later], 2)
  asOf.enter(2)
  expect(asOf.reached()).toEqual([later])
})
