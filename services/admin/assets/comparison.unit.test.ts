import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { compare } from './comparison.js'

const hourMs = 3_600_000
/** On the event's clock: 18:00, when the day was opened, and later. */
const opened = Date.UTC(2026, 8, 5, 18)
const at = (hours: number) => opened + hours * hourMs
const hour = (hour: number, revenue: number) => ({ hour, revenue, orderCount: 1 })

const friday = { totalSales: 1_000, hours: [hour(18, 100), hour(19, 200.1), hour(23, 300), hour(0, 399.9)] }
const dayWith = (totalSales: number, over: object = {}) => ({
  kpis: { totalSales },
  openedAt: opened,
  closedAt: null,
  evening: [18, 19, 20, 23, 0],
  hours: [],
  before: friday,
  ...over,
})

test.each([
  ['at the opening the day before had nothing', 0, 0, undefined],
  ['of the running hour, as much counts as is over of it', 0.5, 5_000, 300],
  ['a whole hour counts as a whole', 1, 10_000, 100],
  ['cents are rounded, not cut', 1.25, 15_003, 33],
  ['an hour without orders adds nothing', 2.5, 30_010, -33],
  ['00:30 comes after 23:00', 6.5, 80_005, -75],
  ['after the day before had closed it stays as it was', 7.5, 100_000, -80],
])('%s', (_, hours, cents, percent) => {
  expect(compare(dayWith(200), at(hours))).toMatchObject({ cents, percent, isAtThisTime: true })
})

test.each([
  ['equal takings', 100, { percent: 0, sign: 0 }],
  ['a little less, which is rounded to nothing', 99.9, { percent: 0, sign: -1 }],
  ['all refunded', 0, { percent: -100, sign: -1 }],
  ['below zero by refunds: no percentage', -5, { percent: undefined, sign: -1 }],
])('%s', (_, totalSales, expected) => {
  const compared = compare(dayWith(totalSales), at(1))
  expect(compared).toMatchObject({ cents: 10_000, ...expected })
  for (const number of [compared.percent, compared.sign]) expect(Object.is(number, -0)).toBe(false)
})

test.each([0, -50])('a day before with %i has no percentage', revenue => {
  const before = { totalSales: revenue, hours: [hour(18, revenue)] }
  expect(compare(dayWith(10, { before }), at(1))).toEqual({
    cents: revenue * 100,
    isAtThisTime: true,
    until: undefined,
    percent: undefined,
    sign: 1,
  })
  expect(compare(dayWith(10, { before: { totalSales: 0, hours: [] } }), at(1))?.cents).toBe(0)
})

test('there is nothing to compare on the first day, nor while nothing is counted', () => {
  expect(compare(dayWith(10, { before: null }), at(1))).toBeUndefined()
  expect(compare(dayWith(10), null)).toBeUndefined()
})

test('a closed day is compared as a whole, and so is one that was left open for a day', () => {
  const whole = { cents: 100_000, isAtThisTime: false, percent: 20 }
  expect(compare(dayWith(1_200, { closedAt: at(6) }), null)).toMatchObject(whole)
  expect(compare(dayWith(1_200), at(24))).toMatchObject(whole)
})

test('orders before the opening belong to the evening', () => {
  const before = { totalSales: 300, hours: [hour(17, 100), hour(18, 200)] }
  const early = dayWith(150, { before, evening: [17, 18] })
  expect(compare(early, at(0.5))).toMatchObject({ cents: 20_000, isAtThisTime: true })
  expect(compare(early, at(-0.5))).toMatchObject({ cents: 5_000, isAtThisTime: true })
})

test('sales that are ahead of the clock are compared up to the hour of the newest one', () => {
  const hours = [hour(18, 120), hour(19, 240), hour(20, 500)]
  const untilEight = { cents: 30_010, isAtThisTime: false, until: 20, percent: 20, sign: 1 }
  expect(compare(dayWith(860, { hours }), at(-3))).toEqual(untilEight)
  const whole = { cents: 100_000, isAtThisTime: false, until: undefined, percent: undefined }
  for (const hours of [[], [hour(18, 80)]])
    expect(compare(dayWith(80, { hours }), at(-3)), 'nothing has ended').toMatchObject(whole)
})

test('a day that was left open over night stands against what the day before had taken since its beginning', () => {
  const before = { totalSales: 5_000, hours: [hour(12, 2_000), hour(19, 3_000)] }
  // Composed at the last sale.
  const evening = [12, 13, 14, 15, 18, 19, 20, 21, 22, 23]
  const compared = compare(dayWith(3_000, { before, evening }), at(18.5))
  expect(compared).toMatchObject({ cents: 500_000, isAtThisTime: true, percent: -40 })
})
