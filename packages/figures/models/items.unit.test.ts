import { anEvent } from '@tally/testkit/records/decoded'
import { burger, chips } from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import { composeItems, itemCounts, topItems } from './items.ts'

const totals = (
  menuItemId: number,
  quantity: number,
  grossCents: number,
  more: { orders?: number; refundedQuantity?: number; refundedCents?: number } = {},
) =>
  [menuItemId, { orders: 1, quantity, grossCents, refundedQuantity: 0, refundedCents: 0, ...more }] as const
const menu = anEvent()

test('quantity and revenue are net of refunds, which have fields of their own', () => {
  const items = composeItems([totals(burger, 5, 4250, { refundedQuantity: 2, refundedCents: 1700 })])
  expect(items).toEqual([[burger, 3, 25.5, 2, 17]])
})

test('an item is listed while a confirmed order has it, with 0 if all of it is refunded', () => {
  const items = composeItems([
    totals(burger, 1, 850, { refundedQuantity: 1, refundedCents: 850 }),
    totals(chips, 0, 0, { orders: 0 }),
  ])
  expect(itemCounts(items, menu, undefined)).toEqual([
    { menuItemId: burger, itemName: 'Burger', quantitySold: 0, quantityRefunded: 1 },
  ])
})

test('top items: quantity, then revenue, then the lower id; the first of them up to the limit', () => {
  const items = composeItems([totals(4, 2, 100), totals(1, 2, 100), totals(2, 2, 900), totals(3, 9, 10)])
  expect(topItems(items, menu, 10).map(({ menuItemId }) => menuItemId)).toEqual([3, 2, 1, 4])
  expect(topItems(items, menu, 2).map(({ menuItemId }) => menuItemId)).toEqual([3, 2])
})

test("names are those of the event's latest version; an item it does not list is called by its id", () => {
  const items = composeItems([totals(burger, 1, 850), totals(77, 1, 100)])
  expect(topItems(items, menu, 10)).toMatchObject([
    { menuItemId: burger, itemName: 'Burger', categoryName: 'Grill' },
    { menuItemId: 77, itemName: 'Item 77', categoryName: '' },
  ])
})

test('item counts without ids: everything sold, by id', () => {
  const items = composeItems([totals(chips, 1, 100), totals(burger, 1, 850)])
  expect(itemCounts(items, menu, undefined).map(({ menuItemId }) => menuItemId)).toEqual([burger, chips])
})

test('item counts with ids: a row for each requested id, by id, 0 if nothing was sold', () => {
  const items = composeItems([totals(burger, 3, 850, { refundedQuantity: 1 })])
  expect(itemCounts(items, menu, [chips, burger])).toEqual([
    { menuItemId: burger, itemName: 'Burger', quantitySold: 2, quantityRefunded: 1 },
    { menuItemId: chips, itemName: 'Chips', quantitySold: 0, quantityRefunded: 0 },
  ])
})
