import { expect, test } from 'vitest'
import { readOptions } from './options.ts'

test('without options all rows run, five rounds each', () => {
  expect(readOptions([])).toEqual({
    only: [],
    rounds: 5,
    orders: 200_000,
    seconds: 5,
    large: false,
    seed: 20260904,
  })
})

test('rows are named with commas, numbers are whole and at least 1', () => {
  expect(readOptions(['--only', 'hot,freshness', '--rounds', '1', '--large'])).toMatchObject({
    only: ['hot', 'freshness'],
    rounds: 1,
    large: true,
  })
  expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds takes a whole number from 1, not 0')
})
