import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { withPauses } from './evening.js'

const hoursOf = (...hours: number[]): number[] => withPauses(hours)

test('an evening has the hours in between, also past 24:00', () => {
  expect(hoursOf(18, 19, 21)).toEqual([18, 19, 20, 21])
  expect(hoursOf(20, 22, 1, 2)).toEqual([20, 21, 22, 23, 0, 1, 2])
})

test('one hour is one bar, none is none, and all are all', () => {
  expect(hoursOf(23)).toEqual([23])
  expect(hoursOf()).toEqual([])
  expect(hoursOf(...Array(24).keys())).toEqual([...Array(24).keys()])
})
