import type { Random } from '@tally/testkit/random'

/** Draws from 0 up to `size` - 1 by Zipf's law with exponent 1: the n-th is drawn 1/n times as often as the first. */
export function zipfOf(size: number): (random: Random) => number {
  const upTo = new Float64Array(size)
  let sum = 0
  for (let index = 0; index < size; index++) {
    sum += 1 / (index + 1)
    upTo[index] = sum
  }
  return random => {
    const drawn = random.unit() * sum
    let [from, to] = [0, size - 1]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((upTo[middle] as number) > drawn) to = middle
      else from = middle + 1
    }
    return from
  }
}
