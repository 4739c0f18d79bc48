import { afterEach, beforeEach, expect, test, vi } from 'vitest'
// @ts-expect-error a plain script of the browser
import { calmly } from './calmly.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the first call acts at once, the latest of the others once a second', () => {
  const seen: [number, number][] = []
  const start = Date.now()
  const show = calmly(1_000, (value: number) => seen.push([Date.now() - start, value]))
  for (let value = 0; value < 12; value++) {
    show(value)
    vi.advanceTimersByTime(200)
  }
  vi.advanceTimersByTime(5_000)
  expect(seen).toEqual([
    [0, 0],
    [1_000, 4],
    [2_000, 9],
    [3_000, 11],
  ])
  show(99)
  expect(seen.at(-1)).toEqual([7_400, 99])
})
