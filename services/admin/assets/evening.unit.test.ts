import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { eveningOf } from './evening.js'

const hoursOf = (...hours: number[]): number[] =>
  eveningOf(hours.map(hour => ({ hour, orderCount: 1 }))).map(({ hour }: { hour: number }) => hour)

test('hours of an evening stand in their order, with those in between', () => {
  expect(hoursOf(18, 19, 21)).toEqual([18, 19, 20, 21])
})

test('a night past 24:00 continues to the right', () => {
  expect(hoursOf(0, 1, 20, 22, 23)).toEqual([20, 21, 22, 23, 0, 1])
})

test('one hour is one bar, none is none, and all are all', () => {
  expect(hoursOf(7)).toEqual([7])
  expect(hoursOf()).toEqual([])
  expect(hoursOf(...Array(24).keys())).toHaveLength(24)
})

test('an hour without an order in between has none', () => {
  expect(
    eveningOf([
      { hour: 5, orderCount: 2 },
      { hour: 7, orderCount: 3 },
    ])[1],
  ).toEqual({ hour: 6, orderCount: 0, revenue: 0 })
})
