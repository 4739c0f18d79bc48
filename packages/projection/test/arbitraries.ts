import { orderStatuses } from '@tally/contract'
import { anOrder, aRefund } from '@tally/testkit/records/decoded'
import { instant } from '@tally/testkit/records/instants'
import fc from 'fast-check'
import type { GoodRecord } from './counted.ts'

const timestamp = instant.map(at => new Date(at).toISOString())
const item = fc.integer({ min: 1, max: 4 })
const cents = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.constantFrom(0, 1, 5, 333))
const euros = cents.map(amount => amount / 100)
/** What a till gives back is below zero: a returned cup, a discount, an order of returns alone. */
const signedEuros = fc.tuple(euros, fc.constantFrom(1, 1, -1)).map(([amount, sign]) => amount * sign)
const signedQuantity = fc.constantFrom(-3, -2, -1, 1, 2, 3, 4, 5)
/** As tills write them: the same but for case or a space, and none. */
const paymentMethod = fc.constantFrom('Cash', 'Card', 'card', 'Card ', '')
const orderIds = ['A-1', 'A-2', 'A-3', 'B-1'] as const

const fields = {
  status: fc.constantFrom(...orderStatuses),
  areaId: fc.integer({ min: 1, max: 2 }),
  dayId: fc.integer({ min: 41, max: 42 }),
  orderDateTime: timestamp,
  paymentMethod,
  totalAmount: signedEuros,
  items: fc.array(fc.record({ menuItemId: item, quantity: signedQuantity, unitPrice: signedEuros }), {
    maxLength: 4,
  }),
}
const names = Object.keys(fields) as (keyof typeof fields)[]

/** The versions of an order: each after the first changes its status, one other field, or neither. */
const versionsOf = (orderId: string) =>
  fc
    .tuple(
      fc.record(fields),
      fc.array(fc.tuple(fc.record(fields), fc.constantFrom(...names)), { maxLength: 3 }),
    )
    .map(([first, changes]): GoodRecord[] => {
      const all = [first]
      for (const [other, name] of changes)
        all.push({ ...(all.at(-1) ?? first), status: other.status, [name]: other[name] })
      return all.map((version, index) => ({ order: anOrder({ ...version, orderId, version: index + 1 }) }))
    })

/** A refund of a fee less, of more than was sold, or taken back by a version without money and lines. */
const refund = fc
  .record({
    number: fc.integer({ min: 0, max: 5 }),
    version: fc.integer({ min: 1, max: 3 }),
    refundedAt: timestamp,
    amount: fc.oneof(euros, fc.constant(0)),
    lines: fc.array(
      fc.record({ menuItemId: item, quantity: fc.integer({ min: 1, max: 6 }), amount: euros }),
      { maxLength: 3 },
    ),
  })
  .map(({ number, ...fields }) => {
    // A refund keeps its order, whatever its version.
    const ofOrder = orderIds[number % orderIds.length]
    return { refund: aRefund({ ...fields, refundId: `R-${number}`, orderId: ofOrder }) }
  })

/**
 * Records of one event; a refund may come before its order. No two different records of one id have the same version,
 * because then their order in the partition would decide.
 */
export const recordSet = fc
  .tuple(
    fc.uniqueArray(refund, {
      maxLength: 15,
      selector: ({ refund }) => `${refund.refundId} ${refund.version}`,
    }),
    ...orderIds.map(versionsOf),
  )
  .chain(([refunds, ...orders]) => {
    const records = [...refunds, ...orders.flat()]
    return fc.shuffledSubarray(records, { minLength: records.length })
  })
