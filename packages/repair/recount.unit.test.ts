import { type CounterChanges, noAreaChanges } from '@tally/figures'
import { expect, test } from 'vitest'
import { correction, counterFindings } from './recount.ts'

const item = (quantity: number) => ({
  orders: 1,
  quantity,
  grossCents: 0,
  refundedQuantity: 0,
  refundedCents: 0,
})

/** Day 41, all areas: some paid orders and some of item 7; in order bucket 500 some that are ready. */
function counters({
  paid = 0,
  sales = 0,
  seven,
  ready,
}: {
  paid?: number
  sales?: number
  seven?: number
  ready?: number
}): CounterChanges {
  const area = noAreaChanges()
  Object.assign(area.daily.only(), { Paid: paid, salesCents: sales })
  if (seven !== undefined) area.items.set(7, item(seven))
  if (ready !== undefined) area.orderBuckets.at(500).ReadyForPickup = ready
  return new Map([[41, new Map([[0, area]])]])
}

test('a counter that differs is named by its table, its key and its column', () => {
  expect(counterFindings(counters({ paid: 2, sales: 5, seven: 3 }), counters({ paid: 2, sales: 7 }))).toEqual(
    [
      { where: 'postgres', what: 'daily_counters day 41 area 0 sales_cents', found: 7, counted: 5 },
      { where: 'postgres', what: 'item_counters day 41 area 0 item 7 orders', found: 0, counted: 1 },
      { where: 'postgres', what: 'item_counters day 41 area 0 item 7 quantity', found: 0, counted: 3 },
    ],
  )
})

test('a key that is a text is quoted', () => {
  const area = noAreaChanges()
  area.payments.at('Card "one"\n').orders = 2
  expect(counterFindings(new Map([[41, new Map([[0, area]])]]), new Map())).toEqual([
    {
      where: 'postgres',
      what: 'payment_counters day 41 area 0 payment_method "Card \\"one\\"\\n" orders',
      found: 0,
      counted: 2,
    },
  ])
})

test('a row of zeros equals no row', () => {
  expect(counterFindings(new Map(), counters({}))).toEqual([])
})

test('the correction turns the stored counters into the counted ones, and surplus rows into zeros', () => {
  const changes = correction(counters({ paid: 2, sales: 5 }), counters({ paid: 3, sales: 1, seven: 3 }))
  const area = changes.get(41)?.get(0)
  expect(area?.daily.only()).toMatchObject({ Paid: -1, Pending: 0, salesCents: 4, itemsSold: 0 })
  expect(area?.items.get(7)).toMatchObject({ orders: -1, quantity: -3 })
})

test('a time bucket that differs is named and corrected, and so is a surplus one', () => {
  expect(counterFindings(counters({ ready: 2 }), counters({}))).toEqual([
    {
      where: 'postgres',
      what: 'order_buckets order_bucket 500 day 41 area 0 ready_for_pickup',
      found: 0,
      counted: 2,
    },
  ])
  for (const [counted, stored, by] of [
    [counters({ ready: 2 }), counters({ ready: 5 }), -3],
    [counters({}), counters({ ready: 5 }), -5],
    [counters({ ready: 2 }), new Map(), 2],
  ] as const)
    expect(correction(counted, stored).get(41)?.get(0)?.orderBuckets.get(500)).toMatchObject({
      ReadyForPickup: by,
      Paid: 0,
    })
})
