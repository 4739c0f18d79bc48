import { expect, test } from 'vitest'
import type { Bench } from './bench.ts'
import { alternate } from './rounds.ts'

const benchOf = (rounds: number) =>
  ({ options: { rounds }, log: () => {}, signal: new AbortController().signal }) as unknown as Bench

test('contenders take turns; the first turn of each warms up and does not count', async () => {
  const turns: string[] = []
  const take = (name: string) => async () => ({ turn: turns.push(name) })
  const samples = await alternate(benchOf(2), 'row', { ours: take('A'), theirs: take('B') })

  expect(turns.join(' ')).toBe('A B A B A B')
  expect(samples).toEqual({ ours: [{ turn: 3 }, { turn: 5 }], theirs: [{ turn: 4 }, { turn: 6 }] })
})

test('a figure that is not a number ends the row', async () => {
  const broken = alternate(benchOf(1), 'row', { ours: async () => ({ p99: Number.NaN }) })
  await expect(broken).rejects.toThrow('ours measured something that is not a number')
})
