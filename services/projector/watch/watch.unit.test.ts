import { beforeEach, expect, test, vi } from 'vitest'
import { createProgress } from './progress.ts'
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

test('a late report of what is applied takes nothing back; a move does, and voids the ends recorded before', () => {
  const progress = createProgress()
  const of = { topic: 'orders', partition: 0 }
  const end = { ...of, end: 120, atMs: 1_000 }
  progress.applied(of, 120)
  progress.recordEnds([end], 0)
  progress.moved(of, 120)
  progress.applied(of, 110)
  expect(progress.reached(0)).toEqual([end])
  progress.moved(of, 110)
  progress.applied(of, 120)
  expect(progress.reached(0)).toEqual([])
})

test('ends that were recorded by the clock of another epoch, or before it went back, are void', () => {
  const progress = createProgress()
  const of = { topic: 'orders', partition: 0 }
  const before = { ...of, end: 120, atMs: 1_000 }
  const later = { ...before, atMs: 2_000 }
  progress.applied(of, 120)
  progress.recordEnds([before], 1)
  expect(progress.reached(2)).toEqual([])
  progress.recordEnds([before], 1)
  expect(progress.reached(2)).toEqual([])
  progress.recordEnds([later], 2)
  expect(progress.reached(2)).toEqual([later])
  for (const found of [[{ ...of, end: 130, atMs: 2_500 }], [], [{ ...of, end: 140, atMs: 2_100 }]])
    progress.recordEnds(found, 2)
  progress.applied(of, 130)
  expect(progress.reached(2)).toEqual([])
})
