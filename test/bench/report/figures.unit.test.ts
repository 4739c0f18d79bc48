import { expect, test } from 'vitest'
import { median, medianRatio, percentile } from './figures.ts'

test('the median is the middle one, or the mean of the two in the middle', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(median([9, 1, 5, 7])).toBe(6)
  expect(median([10, 9, 100])).toBe(10)
  expect(() => median([])).toThrow('no median of nothing')
})

test('a percentile is a measured value that the given share of all values does not exceed', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(percentile(hundred, 0.99)).toBe(99)
  expect(percentile(hundred, 0.5)).toBe(50)
  expect(percentile([3], 0.99)).toBe(3)
})

test('a round that is slow for both contenders leaves the ratio unchanged', () => {
  expect(medianRatio([100, 10, 100], [50, 5, 50])).toBe(2)
})
