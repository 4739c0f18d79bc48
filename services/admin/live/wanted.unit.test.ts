import type { EventDay } from '@tally/contract'
import { anEvent } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
import { dayBefore, wantedNames } from './wanted.ts'

const day = (dayId: number, openedAt: string) =>
  ({ dayId, date: openedAt.slice(0, 10), openedAt: Date.parse(openedAt), closedAt: 0 }) as EventDay
const lunches = [
  day(1, '2026-09-04T12:00:00+02:00'),
  day(2, '2026-09-04T18:30:00+02:00'),
  day(4, '2026-09-06T18:00:00+02:00'),
  day(3, '2026-09-06T11:30:00+02:00'),
]
const before = (dayId: number, days = lunches) => dayBefore({ days, timeZone: 'Europe/Rome' }, dayId)?.dayId

test('a day is compared with the one before that opened at about its time, in whatever order they are listed', () => {
  expect([before(3), before(4)]).toEqual([1, 2])
  expect([before(1), before(2)]).toEqual([undefined, undefined])
  expect(before(9)).toBeUndefined()
})

test('midnight parts no evenings: 23:30 and 00:30 are an hour apart', () => {
  const days = [
    day(1, '2026-09-04T12:00:00+02:00'),
    day(2, '2026-09-04T23:30:00+02:00'),
    day(3, '2026-09-06T00:30:00+02:00'),
  ]
  expect(before(3, days)).toBe(2)
})

test('a screen reads the totals of all days, the hours of two, and the items and payments of its own, of its area', () => {
  const event = { ...anEvent(), shard: 0 }
  const ofBar = ['kpis:42:2', 'kpis:41:2', 'hours:42:2', 'hours:41:2', 'items:42:2', 'payments:42:2']
  expect(wantedNames(event, { dayId: 42, areaId: 2 })).toEqual(ofBar)
  const ofFirst = ['kpis:41:0', 'kpis:42:0', 'hours:41:0', 'items:41:0', 'payments:41:0']
  expect(wantedNames(event, { dayId: 41 })).toEqual(ofFirst)
})
