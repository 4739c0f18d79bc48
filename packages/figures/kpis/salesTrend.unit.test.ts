import { expect, test } from 'vitest'
import { composeKpis, noSales } from './document.ts'
import { composeTrendPoint, trendDays } from './salesTrend.ts'

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
  expect(trendDays([], 7)).toEqual([])
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
