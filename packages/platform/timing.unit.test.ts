import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openInterval } from './timing.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('work runs at each interval, never two at once', async () => {
  const runs: (() => void)[] = []
  const interval = openInterval(1_000, () => new Promise<void>(resolve => runs.push(resolve)), vi.fn())
  await vi.advanceTimersByTimeAsync(3_500)
  expect(runs).toHaveLength(1)
  const current = interval.run()
  expect(runs).toHaveLength(1)
  runs[0]?.()
  await current
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toHaveLength(2)
  runs[1]?.()
  await interval.stop()
})

test('a run that fails is reported, and the next one tries again', async () => {
  const work = vi.fn().mockRejectedValueOnce(new Error('down')).mockResolvedValue(undefined)
  const onError = vi.fn()
  const interval = openInterval(1_000, work, onError)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(onError.mock.calls).toEqual([[new Error('down')]])
  expect(work).toHaveBeenCalledTimes(2)
  await interval.stop()
})

test('stop waits for the run in progress; nothing runs after it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = vi.fn(() => promise)
  const interval = openInterval(1_000, work, vi.fn())
  await vi.advanceTimersByTimeAsync(1_000)
  const stopped = vi.fn()
  const stopping = interval.stop().then(stopped)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(stopped).not.toHaveBeenCalled()
  resolve()
  await stopping
  await vi.advanceTimersByTimeAsync(5_000)
  expect(work).toHaveBeenCalledTimes(1)
})
