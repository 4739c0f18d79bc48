import type { Refund } from '@tally/contract'
import { expect, test } from 'vitest'
import { noRefunds } from '../counters/facts.ts'
import { anOrder, aRefund } from '../testing/cast.ts'
import { applyOrder } from './order.ts'
import { applyRefunds } from './refund.ts'

const lines = 500

/** Counts how often the lines of records are looked at. */
function counting() {
  let looks = 0
  const line = <Line extends { menuItemId: unknown }>(of: Line): Line =>
    Object.defineProperty({ ...of }, 'menuItemId', {
      enumerable: true,
      get() {
        looks += 1
        return of.menuItemId
      },
    })
  return { line, looks: () => looks }
}

const largeOrder = anOrder({
  items: Array.from({ length: lines }, (_, i) => ({ menuItemId: i + 1, quantity: 9, unitPrice: 1 })),
})
const largeRefund = (refundId: string): Refund =>
  aRefund({
    refundId,
    amount: 5,
    lines: Array.from({ length: lines }, (_, i) => ({ menuItemId: i + 1, quantity: 1, amount: 0.01 })),
  })

test('each line of an order is looked at a few times, however many it has', () => {
  const { line, looks } = counting()
  const order = { ...largeOrder, items: largeOrder.items.map(line) }
  const outcome = applyOrder({ order: undefined, refunds: noRefunds }, order)
  expect(outcome.outcome).toBe('applied')
  expect(looks()).toBeLessThan(5 * lines)
})

test('each line of 200 refunds of one order is looked at a few times', () => {
  const { line, looks } = counting()
  const refunds = Array.from({ length: 200 }, (_, i) => {
    const refund = largeRefund(`R-${i}`)
    return { ...refund, lines: refund.lines.map(line) }
  })
  const outcome = applyRefunds({ order: largeOrder, refunds: noRefunds }, refunds)
  expect(outcome.next.refunds.lines).toHaveLength(lines)
  expect(outcome.next.refunds.lines[0]).toMatchObject({ quantity: 200, amount: 200 })
  expect(looks()).toBeLessThan(5 * 200 * lines)
})
