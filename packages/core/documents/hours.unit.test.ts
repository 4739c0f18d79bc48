import { expect, test } from 'vitest'
import { composeHours } from './hours.ts'

test('hours ascend, and only those with an order stand there', () => {
  const totals = [
    { hour: 23, orders: 2, salesCents: 250 },
    { hour: 0, orders: 1, salesCents: 0 },
    { hour: 9, orders: 0, salesCents: 0 },
  ]
  expect(composeHours(totals)).toEqual([
    { hour: 0, orderCount: 1, revenue: 0, currency: 'EUR' },
    { hour: 23, orderCount: 2, revenue: 2.5, currency: 'EUR' },
  ])
})
