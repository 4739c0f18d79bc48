import fc from 'fast-check'
import { expect, test } from 'vitest'
import { composeKpis, composeTrendPoint, noSales, trendDays } from './kpis.ts'

test('without orders every number is 0', () => {
  expect(noSales).toEqual({
    totalOrders: 0,
    totalSales: 0,
    currency: 'EUR',
    averageOrderValue: 0,
    totalItemsSold: 0,
  })
})

test.each([
  [1, 2, 0.01],
  [1, 3, 0],
  [5, 2, 0.03],
  [-1, 2, -0.01],
  [-1, 3, 0],
  [-5, 2, -0.03],
])('%i cents over %i orders are %f euros each, halves away from zero', (salesCents, orders, average) => {
  expect(composeKpis({ orders, salesCents, itemsSold: 0 }).averageOrderValue).toBe(average)
})

test('the average is rounded away from zero in whole cents, for any sum that is exact', () => {
  const sums = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(sums, fc.integer({ min: 1, max: 10_000_000 }), (salesCents, orders) => {
      const averageOf = (cents: number) =>
        composeKpis({ orders, salesCents: cents, itemsSold: 0 }).averageOrderValue
      const halfUp = (2n * BigInt(salesCents) + BigInt(orders)) / (2n * BigInt(orders))
      const expected = Number(halfUp) / 100
      expect(averageOf(salesCents)).toBe(expected)
      expect(averageOf(-salesCents)).toBe(expected === 0 ? 0 : -expected)
    }),
  )
})

const days = [
  { dayId: 3, date: '2026-09-05' },
  { dayId: 1, date: '2026-09-04' },
  { dayId: 2, date: '2026-09-05' },
  { dayId: 4, date: '2026-12-31' },
]

test("a trend groups the event's days by date, ascending; dates without a day are left out", () => {
  expect(trendDays(days, 7).map(({ date, days }) => [date, days.map(({ dayId }) => dayId)])).toEqual([
    ['2026-09-04', [1]],
    ['2026-09-05', [3, 2]],
    ['2026-12-31', [4]],
  ])
})

test('the last dates count, not the last days', () => {
  expect(trendDays(days, 2).map(({ date }) => date)).toEqual(['2026-09-05', '2026-12-31'])
})

test('a point sums all days of its date in cents; a date without orders has 0', () => {
  const cents = (salesCents: number) => composeKpis({ orders: 1, salesCents, itemsSold: 1 })
  expect(composeTrendPoint('2026-09-05', [cents(10), cents(20), noSales])).toEqual({
    date: '2026-09-05',
    totalSales: 0.3,
    orderCount: 2,
    currency: 'EUR',
  })
  expect(composeTrendPoint('2026-09-06', [noSales])).toMatchObject({ totalSales: 0, orderCount: 0 })
})
