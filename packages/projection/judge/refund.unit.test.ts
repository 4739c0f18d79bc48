import { changeRefunds, hourIn, noRefunds, unknownOrder } from '@tally/figures'
import { anOrder, aRefund, burgers } from '@tally/testkit/records/decoded'
import { burger, chips, type Fields, saturday } from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import { counted } from '../test/counted.ts'
import { applyRefund, applyRefundsToOrder, differingField, refundContent } from './versions.ts'

const inRome = hourIn('Europe/Rome')

/** Friday's sales, items sold, portions of burgers refunded and cents, of one order and these refunds of it. */
function friday(order: Fields, ...refunds: Fields[]): number[] {
  const records = refunds.map((fields, index) => ({ refund: aRefund({ refundId: `R-${index}`, ...fields }) }))
  const totals = counted([[{ order: anOrder(order) }, ...records]], inRome)
  const names = ['salesCents', 'itemsSold', 'item7/refundedQuantity', 'item7/refundedCents']
  return names.map(name => totals[`41/0/${name}`] ?? 0)
}

const back = (quantity: number, amount: number, menuItemId = burger) => ({ menuItemId, quantity, amount })

test.each<[string, Fields, Fields[], number[]]>([
  ['a refund is taken from sales and from its item', {}, [{}], [850, 1, 1, 850]],
  ['one without lines is money only: no item moves', {}, [{ lines: [], amount: 3 }], [1400, 2, 0, 0]],
  ['more money back than was charged leaves 0', {}, Array(2).fill({ amount: 9, lines: [] }), [0, 2, 0, 0]],
  ['more portions than were ordered leave 0', {}, [{ amount: 5, lines: [back(3, 5)] }], [1200, 0, 2, 500]],
  [
    'money and portions are clamped each for itself',
    { totalAmount: 10 },
    [{ amount: 30, lines: [back(1, 30)] }],
    [0, 1, 1, 1700],
  ],
  [
    'lines of another item count for none, the money does',
    {},
    [{ lines: [back(1, 8.5, chips)] }],
    [850, 2, 0, 0],
  ],
  ['the last time without lines', {}, [{ refundedAt: '2026-08-18T23:59:59.999Z' }], [850, 2, 0, 0]],
  ['the first time with lines', {}, [{ refundedAt: '2026-08-19T02:00:00+02:00' }], [850, 1, 1, 850]],
  [
    'a fee that was kept: lines say what items lose',
    {},
    [{ amount: 6, lines: [back(1, 8.5)] }],
    [1100, 1, 1, 850],
  ],
  ['goods that are taken back without money', {}, [{ amount: 0, lines: [back(1, 0)] }], [1700, 1, 1, 0]],
  ['a refund of nothing', {}, [{ amount: 0, lines: [] }], [1700, 2, 0, 0]],
  [
    'an order that only gives back, and items that it gives back, are refunded nothing',
    { totalAmount: -4, items: [burgers(-2, 2)] },
    [{ amount: 4, lines: [back(1, 4)] }],
    [-400, -2, 0, 0],
  ],
  ['a refund of an order that is not confirmed', { status: 'Pending' }, [{}], [0, 0, 0, 0]],
])('%s', (_, order, refunds, expected) => expect(friday(order, ...refunds)).toEqual(expected))

test('a refund that comes before its order waits for it, and then counts', () => {
  const outcome = applyRefundsToOrder(unknownOrder, [{ before: undefined, after: aRefund() }])
  expect(outcome).toMatchObject({ outcome: 'parked', waitsFor: 'order', next: { order: undefined } })
  expect(counted([[{ refund: aRefund() }]], inRome)).toEqual({})
  expect(counted([[{ refund: aRefund() }], [{ order: anOrder() }]], inRome)).toEqual(
    counted([[{ order: anOrder() }, { refund: aRefund() }]], inRome),
  )
})

test('a refund is booked on the day and hour of its order, not on its own', () => {
  const totals = counted(
    [[{ order: anOrder() }, { refund: aRefund({ refundedAt: '2026-09-06T10:00:00Z' }) }]],
    inRome,
  )
  expect(totals['41/0/hour21/salesCents']).toBe(850)
  expect(Object.keys(totals).some(name => name.startsWith(`${saturday}/`))).toBe(false)
})

test('however many refunds an order has, its sums stay exact numbers', () => {
  const largest = aRefund({ amount: 99_999_999.99, lines: [back(100_000, 99_999_999.99)] })
  let sums = noRefunds
  for (let i = 0; i < 1_000_000; i++) sums = changeRefunds(sums, [{ before: undefined, after: largest }])
  for (const sum of [sums.amount, sums.lines[0]?.amount, sums.lines[0]?.quantity])
    expect(Number.isSafeInteger(sum)).toBe(true)
  expect(sums.amount).toBeGreaterThan(largest.amount)
})

/** Friday's figures of one burger order, and the sums of its refunds after these versions of one refund. */
function afterVersions(...versions: Fields[]) {
  const refunds = versions.map(fields => ({ refund: aRefund(fields) }))
  return [
    counted([[{ order: anOrder() }, ...refunds]], inRome),
    counted([refunds, [{ order: anOrder() }]], inRome),
    counted([[{ order: anOrder() }], ...refunds.toReversed().map(one => [one])], inRome),
    counted([...refunds.map(one => [one]), ...refunds.map(one => [one]), [{ order: anOrder() }]], inRome),
  ]
}

test('a refund that is taken back leaves no trace, before or after its order, in any order, repeated', () => {
  const untouched = counted([[{ order: anOrder() }]], inRome)
  for (const totals of afterVersions({}, { version: 2, amount: 0, lines: [] }))
    expect(totals).toEqual(untouched)
  for (const totals of afterVersions({}, { version: 2, amount: 0, lines: null }))
    expect(totals).toEqual(untouched)
})

test('sums are as if a refund that was taken back had never been', () => {
  const one = aRefund({ lines: [back(1, 8.5), back(1, 1, chips)] })
  const other = aRefund({ refundId: 'R-2' })
  const gone = aRefund({ version: 2, amount: 0, lines: [] })
  const sums = changeRefunds(noRefunds, [
    { before: undefined, after: one },
    { before: undefined, after: other },
  ])
  expect(changeRefunds(sums, [{ before: one, after: gone }])).toEqual(
    changeRefunds(noRefunds, [{ before: undefined, after: other }]),
  )
})

const judge = (known: ReturnType<typeof aRefund>, fields: Fields) => {
  const record = aRefund(fields)
  return applyRefund(known, record, () => differingField(refundContent(known), refundContent(record)))
}

test('a version that names another order is a conflict, whatever its number', () => {
  for (const version of [1, 2, 3])
    expect(judge(aRefund({ version: 2 }), { version, orderId: 'another' })).toMatchObject({
      reason: 'conflict',
      message: expect.stringMatching(/^orderId: /),
    })
})

test('a record without version repeats version 1; what it says otherwise contradicts it', () => {
  expect(judge(aRefund({ version: 1 }), { version: undefined })).toEqual({ outcome: 'duplicate' })
  expect(judge(aRefund(), { amount: 1 })).toMatchObject({ reason: 'contradiction' })
  expect(judge(aRefund({ version: 2 }), { amount: 1 })).toEqual({ outcome: 'duplicate' })
})

test('lines are compared by their sums per item, in any order', () => {
  const known = aRefund({ amount: 9, lines: [back(1, 4), back(2, 3), back(1, 2, chips)] })
  expect(judge(known, { amount: 9, lines: [back(1, 2, chips), back(3, 7)] })).toEqual({
    outcome: 'duplicate',
  })
  expect(judge(known, { amount: 9, lines: [back(1, 2, chips), back(3, 6.99)] })).toMatchObject({
    reason: 'contradiction',
    message: expect.stringMatching(/^lines: /),
  })
})
