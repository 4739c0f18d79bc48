import { setImmediate } from 'node:timers/promises'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { openTurns } from './turns.ts'

/** Reads of which a test decides when and how they end. */
function openReads(most: number) {
  const turns = openTurns(most)
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const endOf = (name: string) => {
    const end = ends.get(name)
    if (end === undefined) throw new Error(`${name} was not begun`)
    return end
  }
  return {
    begun,
    take: (name: string) =>
      turns.take(() => {
        begun.push(name)
        const end = Promise.withResolvers<string>()
        ends.set(name, end)
        return end.promise
      }),
    async end(name: string, result: string) {
      endOf(name).resolve(result)
      await setImmediate()
    },
    async fail(name: string) {
      endOf(name).reject(new Error(name))
      await setImmediate()
    },
  }
}

test('reads beyond the most that run at once wait for their turn, in the order in which they came', async () => {
  const { begun, take, end } = openReads(2)
  const results = ['a', 'b', 'c', 'd'].map(take)
  await setImmediate()
  expect(begun).toEqual(['a', 'b'])
  await end('b', 'of b')
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('a', 'of a')
  await end('d', 'of d')
  await end('c', 'of c')
  expect(await Promise.all(results)).toEqual(['of a', 'of b', 'of c', 'of d'])
})

test('a read that comes later does not overtake those that wait', async () => {
  const { begun, take, end } = openReads(1)
  void take('a')
  void take('b')
  await end('a', 'of a')
  void take('c')
  await setImmediate()
  expect(begun).toEqual(['a', 'b'])
  await end('b', 'of b')
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('a read that waits does not wait for ever for one that hangs, and counts like the others then', async () => {
  const { begun, take, end } = openReads(1)
  void take('hangs')
  const waits = take('b')
  await until('the read that waits has begun', () => begun.length === 2)
  void take('c')
  await end('b', 'of b')
  expect(await waits).toBe('of b')
  expect(begun).toEqual(['hangs', 'b'])
  await end('hangs', 'late')
  expect(begun).toEqual(['hangs', 'b', 'c'])
})

test('a read that throws gives its turn back', async () => {
  const { begun, take, fail } = openReads(1)
  const thrown = expect(take('a')).rejects.toThrow('a')
  void take('b')
  await fail('a')
  await thrown
  expect(begun).toEqual(['a', 'b'])
})
