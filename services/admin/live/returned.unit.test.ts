import { expect, test } from 'vitest'
import { partReturned } from './returned.ts'

const item = (quantity: number, revenue: number) => ({ quantity, revenue })

test('an item below zero in quantity or in money is a returned one', () => {
  const { sold, returned } = partReturned([item(5, 20), item(30, -60), item(2, 0), item(0, 0), item(-3, 0)])
  expect(sold).toEqual([item(5, 20), item(2, 0), item(0, 0)])
  expect(returned).toEqual([item(30, -60), item(-3, 0)])
})

test('of the returned, the most money comes first, then the most pieces', () => {
  const { returned } = partReturned([item(-1, -2), item(-2, -4), item(-4, -4), item(10, -20)])
  expect(returned).toEqual([item(10, -20), item(-4, -4), item(-2, -4), item(-1, -2)])
})
