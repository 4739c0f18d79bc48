import { anEvent } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
import { currentDay, resolveDay } from './time.ts'

const openedAt = '2026-09-01T10:00:00Z'
const day = (dayId: number, closedAt: string | null) => ({ dayId, date: '2026-09-01', openedAt, closedAt })
const daysOf = (...days: ReturnType<typeof day>[]) => anEvent({ days }).days

test('the open day is the answer, whatever its position', () => {
  const days = daysOf(day(3, '2026-09-03T00:00:00Z'), day(1, null), day(2, '2026-09-09T00:00:00Z'))
  expect(resolveDay(days)?.dayId).toBe(1)
  expect(currentDay(days)?.dayId).toBe(1)
})

test('without an open day the one closed last answers, not the one with the highest id or date', () => {
  const days = daysOf(
    day(1, '2026-09-02T00:00:00Z'),
    day(2, '2026-09-09T00:00:00Z'),
    day(3, '2026-09-03T00:00:00Z'),
  )
  expect(resolveDay(days)?.dayId).toBe(2)
  expect(currentDay(days)).toBeUndefined()
})

test('of days closed at the same time, the one with the higher id answers', () => {
  const days = daysOf(
    day(9, '2026-09-02T02:00:00+02:00'),
    day(10, '2026-09-02T00:00:00Z'),
    day(2, '2026-09-02T00:00:00Z'),
  )
  expect(resolveDay(days)?.dayId).toBe(10)
  expect(resolveDay(days.toReversed())?.dayId).toBe(10)
})

test('a day closed at the first instant of 1970 is a closed day', () => {
  const days = anEvent({
    days: [{ ...day(1, '1970-01-01T00:00:00Z'), openedAt: '1970-01-01T00:00:00Z' }],
  }).days
  expect(resolveDay(days)?.dayId).toBe(1)
  expect(currentDay(days)).toBeUndefined()
})

test('an event without days has no day to answer with', () => {
  expect(resolveDay([])).toBeUndefined()
  expect(currentDay([])).toBeUndefined()
})
