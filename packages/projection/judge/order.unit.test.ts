import { isDeepStrictEqual } from 'node:util'
import { order } from '@tally/contract'
import { rules } from '@tally/contract/test/rules'
import { difference, hourIn, noRefunds } from '@tally/figures'
import { anOrder, burgers } from '@tally/testkit/records/decoded'
import { chips, type Fields } from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import { counted } from '../test/counted.ts'
import { differingField, judgeRepeat, orderContent } from './versions.ts'

const inRome = hourIn('Europe/Rome')

test('a paid order counts on its own day, under its area and under all areas', () => {
  const totals = counted([[{ order: anOrder() }]], inRome)
  for (const area of [1, 0]) {
    expect(totals).toMatchObject({
      [`41/${area}/Paid`]: 1,
      [`41/${area}/salesCents`]: 1700,
      [`41/${area}/itemsSold`]: 2,
      [`41/${area}/hour21/orders`]: 1,
      [`41/${area}/hour21/salesCents`]: 1700,
      [`41/${area}/item7/orders`]: 1,
      [`41/${area}/item7/quantity`]: 2,
      [`41/${area}/item7/grossCents`]: 1700,
    })
  }
  expect(Object.keys(totals).filter(name => name.startsWith('41/2'))).toEqual([])
})

test.each(['Paid', 'Preparing', 'ReadyForPickup', 'Completed'] as const)('%s is confirmed', status => {
  const totals = counted([[{ order: anOrder({ status }) }]], inRome)
  expect(totals['41/0/salesCents']).toBe(1700)
  expect(totals[`41/0/${status}`]).toBe(1)
})

/** The order bucket of the usual order, 2026-09-04 from 19:30 to 19:35 in UTC. */
const itsBucket = `order_bucket${Date.parse('2026-09-04T19:30:00Z') / 300_000}`

test.each(['PreOrder', 'Pending', 'Cancelled'] as const)('%s counts for the list of orders alone', status => {
  expect(counted([[{ order: anOrder({ status }) }]], inRome)).toEqual({
    [`41/0/${status}`]: 1,
    [`41/1/${status}`]: 1,
    [`41/1/${itsBucket}/${status}`]: 1,
  })
})

const returnedCup = { menuItemId: chips, itemName: 'Cup deposit', quantity: -2, unitPrice: 2 }

test.each([
  ['its status', { status: 'Completed' }, [0, 0]],
  ['its payment method', { paymentMethod: 'Card' }, [2, 2]],
  ['a quantity', { items: [burgers(1), returnedCup] }, [2, 2]],
  ['a price', { items: [{ ...burgers(2), unitPrice: 9 }, returnedCup] }, [2, 2]],
  ['an item', { items: [{ ...burgers(2), menuItemId: chips }, returnedCup] }, [2, 1]],
  ['one line more', { items: [burgers(2), returnedCup, { ...burgers(1), menuItemId: 99 }] }, [2, 3]],
])(
  'items are counted again only if more changes than the status of a paid order: %s',
  (_, changed, counted) => {
    const items = [burgers(2), returnedCup]
    const known = { order: anOrder({ items }), refunds: noRefunds }
    const changes = difference(known, { ...known, order: anOrder({ version: 2, items, ...changed }) })
    expect(changes.map(({ facts }) => facts.items.length)).toEqual(counted)
  },
)

test('an order counts in the five minutes of its instant, whatever the zone, the last millisecond included', () => {
  const bucketsOf = (orderDateTime: string) =>
    Object.keys(counted([[{ order: anOrder({ orderDateTime }) }]], inRome)).filter(name =>
      /bucket/.test(name),
    )
  for (const time of ['2026-09-04T19:30:00Z', '2026-09-04T19:34:59.999Z', '2026-09-05T01:16:00+05:45'])
    expect(bucketsOf(time)).toEqual([`41/1/${itsBucket}/Paid`])
  expect(bucketsOf('2026-09-04T19:35:00Z')).not.toEqual([`41/1/${itsBucket}/Paid`])
})

test.each([
  ['a negative quantity', returnedCup],
  ['a negative price', { ...returnedCup, quantity: 2, unitPrice: -2 }],
])('a returned cup in an order takes its money off: %s', (_, cup) => {
  const totals = counted([[{ order: anOrder({ totalAmount: 13, items: [burgers(2), cup] }) }]], inRome)
  expect(totals).toMatchObject({
    '41/0/salesCents': 1300,
    '41/0/hour21/salesCents': 1300,
    '41/1/salesCents': 1300,
    '41/0/item9/orders': 1,
    '41/0/item9/quantity': cup.quantity,
    '41/0/item9/grossCents': -400,
    '41/0/item7/grossCents': 1700,
  })
})

test('an order that only gives back counts below zero, and leaves nothing when it is cancelled', () => {
  const back = { totalAmount: -4, amountPaid: -4, items: [returnedCup] }
  const totals = counted([[{ order: anOrder(back) }]], inRome)
  expect(totals).toMatchObject({
    '41/0/Paid': 1,
    '41/0/salesCents': -400,
    '41/0/itemsSold': -2,
    '41/0/hour21/orders': 1,
  })
  const cancelled = anOrder({ ...back, version: 2, status: 'Cancelled' })
  expect(counted([[{ order: anOrder(back) }], [{ order: cancelled }]], inRome)).toEqual({
    '41/0/Cancelled': 1,
    '41/1/Cancelled': 1,
    [`41/1/${itsBucket}/Cancelled`]: 1,
  })
})

const repeat = (known: Fields, record: Fields) => {
  const [one, other] = [anOrder(known), anOrder(record)]
  return judgeRepeat(one, other, () => differingField(orderContent(one), orderContent(other)))
}

test('a repeat of an order says the same in whatever form, an old version whatever it says', () => {
  const same = [
    {},
    { tableNumber: null },
    { tableNumber: undefined },
    { totalAmount: 1.7e1 },
    { orderDateTime: '2026-09-04T21:31:07.0004+02:00' },
    { eventId: anOrder().eventId.toUpperCase() },
  ]
  for (const fields of same) expect(repeat({}, fields)).toEqual({ outcome: 'duplicate' })
  expect(repeat({ version: 2 }, { totalAmount: 1 })).toEqual({ outcome: 'duplicate' })
})

test('an order with the applied version that says something else is a contradiction, whatever the field', () => {
  const { eventId: _, orderId: _id, version: _version, ...fieldsOfOrder } = order.shape
  const applied: Fields = anOrder()
  const contradicted = new Set<string>()
  for (const { type, fields, good } of Object.values(rules))
    for (const value of type === 'orders' ? good : []) {
      const changed = fields(value)
      const [field = ''] = Object.keys(changed)
      const other: Fields = anOrder(changed)
      if (!(field in fieldsOfOrder) || isDeepStrictEqual(other[field], applied[field])) continue
      contradicted.add(field)
      const message = expect.stringMatching(new RegExp(`^${field}: `))
      expect(repeat({}, changed)).toMatchObject({ outcome: 'rejected', reason: 'contradiction', message })
    }
  expect(contradicted).toEqual(new Set(Object.keys(fieldsOfOrder)))
})
