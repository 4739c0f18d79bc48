import { expect, test } from 'vitest'
import { randomFrom } from '../../chaos/load/random.ts'
import { zipfOf } from './zipf.ts'

const drawsOf = (size: number, draws: number) => {
  const [draw, random] = [zipfOf(size), randomFrom(1, 'zipf')]
  const counts = Array.from({ length: size }, () => 0)
  for (let number = 0; number < draws; number++) {
    const drawn = draw(random)
    counts[drawn] = (counts[drawn] ?? 0) + 1
  }
  return counts
}

test('the n-th is drawn 1/n times as often as the first', () => {
  const counts = drawsOf(4, 100_000)
  expect(counts.map(count => count / (counts[0] ?? 1))).toEqual(
    [1, 1 / 2, 1 / 3, 1 / 4].map(share => expect.closeTo(share, 1)),
  )
})

test('all are drawn in the end, and of one that one', () => {
  expect(drawsOf(100, 100_000).every(count => count > 0)).toBe(true)
  expect(drawsOf(1, 10)).toEqual([10])
})
