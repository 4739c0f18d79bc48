import { expect, test } from 'vitest'
import { createLines } from './shardHash.ts'

const read = (reply: string, count: number) => {
  const lines = createLines(reply)
  return Array.from({ length: count }, () => lines.next())
}
const missing = new Error('a line of the reply is missing')

test('numbers are read line by line, up to the largest that is exact', () => {
  expect(read('1 60 59 60000\n-\n1790000000000000 9007199254740991\n- - 7', 4)).toEqual([
    [1, 60, 59, 60_000],
    [Number.NaN],
    [1_790_000_000_000_000, Number.MAX_SAFE_INTEGER],
    [Number.NaN, Number.NaN, 7],
  ])
})

test('a line that is not numbers is an error of its own', () => {
  const wrong = ['WRONGTYPE a value', '7 seven', '1.5', '3 4 ', '']
  expect(read(['1', ...wrong, '2'].join('\n'), 7)).toEqual([
    [1],
    ...wrong.slice(0, 4).map(text => new Error(text)),
    missing,
    [2],
  ])
})

test('a line behind the end is missing', () => {
  expect(read('7', 3)).toEqual([[7], missing, missing])
})
