import { expect, test } from 'vitest'
import { continues, type Position } from './keyCache.ts'

const before: Position = { xmin: 10, deletions: 2, server: '2026-11-22 13:00:00+00' }

test.each([
  ['nothing happened', before, true],
  ['transactions went on', { ...before, xmin: 11 }, true],
  ['keys were deleted', { ...before, deletions: 3 }, false],
  [
    'Postgres restarted, maybe without its last commits',
    { ...before, server: '2026-11-22 14:00:00+00' },
    false,
  ],
  ['Postgres is in an older state', { ...before, xmin: 9 }, false],
])('%s: the cached keys are still valid: %s', (_, now, holds) => {
  expect(continues(before, now)).toBe(holds)
})

test('the first poll does not continue another', () => expect(continues(undefined, before)).toBe(false))
