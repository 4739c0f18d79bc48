import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { oncePerMinute } from './logger.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('the first occurrence is logged at once, the others once a minute with their number', () => {
  const lines: unknown[] = []
  const limited = oncePerMinute<number>((subject, count, of) => lines.push([subject, count, of]))
  for (let second = 0; second < 90; second++) {
    limited.note('schema', 2, second)
    vi.advanceTimersByTime(1_000)
  }
  limited.note('conflict', 1, 90)
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([
    ['schema', 2, 0],
    ['schema', 118, 59],
    ['conflict', 1, 90],
    ['schema', 60, 89],
  ])
  vi.advanceTimersByTime(120_000)
  limited.note('schema', 1, 100)
  expect(lines.slice(4)).toEqual([['schema', 1, 100]])
})
