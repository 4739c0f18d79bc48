import type { EpochMs } from '@tally/contract'
import { expect, test } from 'vitest'
import { eveningHours, eveningOf } from './evening.ts'

const at = (time: string) => Date.parse(time) as EpochMs
const rome = { timeZone: 'Europe/Rome', asOfMs: null }
const dayOf = (openedAt: string, closedAt: string | null) => ({
  openedAt: at(openedAt),
  closedAt: closedAt === null ? null : at(closedAt),
})
const friday = dayOf('2026-09-04T18:00:00+02:00', '2026-09-05T00:10:00+02:00')

const order = (hours: number[], opening: Parameters<typeof eveningOf>[1]): number[] =>
  eveningOf(
    hours.toSorted((one, other) => one - other).map(hour => ({ hour })),
    opening,
  ).map(({ hour }) => hour)

test.each([
  ['midnight comes after 23:00', friday, [18, 19, 21, 23, 0]],
  ['orders before the opening come first, those after the closing last', friday, [16, 17, 18, 23, 0, 1]],
  ['an order at 02:00 belongs to the night, without one before midnight too', friday, [18, 2]],
  [
    'a pause while the day was open does not part it, however long',
    dayOf('2026-09-04T10:00:00+02:00', '2026-09-05T03:00:00+02:00'),
    [10, 11, 12, 23, 0, 1, 2],
  ],
  [
    'a day that was opened late begins with its first order',
    dayOf('2026-09-04T22:00:00+02:00', '2026-09-05T01:00:00+02:00'),
    [18, 19, 20, 21, 22, 23, 0],
  ],
  [
    'in the night in which 02:00 comes twice',
    dayOf('2026-10-24T18:00:00+02:00', '2026-10-25T05:00:00+01:00'),
    [18, 23, 0, 1, 2, 3, 4],
  ],
  [
    'in the night that has no 02:00',
    dayOf('2026-03-28T18:00:00+01:00', '2026-03-29T05:00:00+02:00'),
    [18, 23, 0, 1, 3, 4],
  ],
])('%s', (_, day, hours) => {
  expect(order(hours, { ...rome, day })).toEqual(hours)
})

test('an open day lasts until its figures are counted', () => {
  const day = dayOf('2026-09-04T10:00:00+02:00', null)
  const hours = [10, 11, 12, 23, 0]
  const asOfMs = at('2026-09-05T00:20:00+02:00')
  expect(order(hours, { ...rome, day, asOfMs })).toEqual(hours)
})

test('a day of 24 hours with orders in each begins with its opening', () => {
  const day = dayOf('2026-09-04T10:00:00+02:00', '2026-09-05T10:00:00+02:00')
  const hours = Array.from({ length: 24 }, (_, index) => (index + 10) % 24)
  expect(order(hours, { ...rome, day })).toEqual(hours)
})

test('a day that was opened at midnight or left open for days begins after the longest pause', () => {
  const hours = [18, 19, 23, 0, 1]
  const midnight = dayOf('2026-09-04T00:00:00+02:00', '2026-09-05T02:00:00+02:00')
  expect(order(hours, { ...rome, day: midnight })).toEqual(hours)
  const leftOpen = { ...rome, day: dayOf('2026-09-04T18:00:00+02:00', null) }
  expect(order([17, ...hours], { ...leftOpen, asOfMs: at('2026-09-07T09:00:00+02:00') })).toEqual([
    17,
    ...hours,
  ])
})

test('a closed day ends with its last order, an open one with the hour up to which it is counted', () => {
  const opening = { ...rome, asOfMs: at('2026-09-05T00:20:00+02:00') }
  expect(eveningHours([{ hour: 19 }, { hour: 21 }], { ...opening, day: friday })).toEqual([18, 19, 20, 21])
  const open = { ...friday, closedAt: null }
  expect(eveningHours([{ hour: 21 }], { ...opening, day: open })).toEqual([18, 19, 20, 21, 22, 23, 0])
})

test('without an opening the hours begin after the longest pause', () => {
  expect(order([20, 22, 23, 0, 1], { ...rome, day: undefined })).toEqual([20, 22, 23, 0, 1])
  expect(order([7], { ...rome, day: undefined })).toEqual([7])
  expect(order([], { ...rome, day: friday })).toEqual([])
})
