import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { backoffMs } from './backoff.js'

test('each attempt waits twice as long as the one before, up to 5 s, and up to half longer by chance', () => {
  expect([0, 1, 2, 3, 4, 5, 1_000].map(attempts => backoffMs(attempts, 0))).toEqual([
    1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000,
  ])
  expect(backoffMs(0, 1)).toBe(1_500)
  const mixed = Array.from({ length: 20 }, () => backoffMs(3))
  expect(new Set(mixed).size).toBeGreaterThan(1)
})
