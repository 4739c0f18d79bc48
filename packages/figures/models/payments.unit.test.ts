import { expect, test } from 'vitest'
import { composePayments } from './payments.ts'

const row = (orders: number, totalCents: number, salesCents: number) => ({
  orders,
  refundedOrders: totalCents === salesCents ? 0 : 1,
  totalCents,
  salesCents,
})

test('a payment method is listed while a confirmed order has it: most takings first, then by name', () => {
  const payments = composePayments([
    ['Voucher', row(0, 0, 0)],
    ['card', row(1, 1_000, 0)],
    ['Cash', row(2, 3_000, 2_550)],
    ['', row(1, -200, -200)],
    ['Card', row(1, 0, 0)],
  ])
  expect(payments.map(({ paymentMethod }) => paymentMethod)).toEqual(['Cash', 'Card', 'card', ''])
  expect(payments[0]).toEqual({
    paymentMethod: 'Cash',
    orders: 2,
    refundedOrders: 1,
    total: 30,
    takings: 25.5,
  })
})
