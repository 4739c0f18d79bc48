import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createGate, Overloaded } from './gate.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A gate, with work that runs until the test ends it. */
function open() {
  const gate = createGate({ places: 3, placesOfOne: 2, waitingOfOne: 2, waitMs: 1_000 })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (organizationId: string, name: string) =>
    gate.enter(organizationId, () => {
      begun.push(name)
      return new Promise<string>(resolve => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { enter, begun, end }
}

test('an organization with many reads leaves places for others', async () => {
  const { enter, begun, end } = open()
  const all = ['a1', 'a2', 'a3', 'a4'].map(name => enter('a', name))
  void enter('b', 'b1')
  void enter('c', 'c1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  await end('a2')
  expect(begun.at(-1)).toBe('c1')
  await end('b1')
  expect(begun.at(-1)).toBe('a4')
  await Promise.all(['a3', 'a4'].map(end))
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4'])
  void enter('a', 'a5')
  expect(begun.at(-1)).toBe('a5')
})

test('work that waits too long, or that arrives at a full queue, is refused, and a free place goes to the next', async () => {
  const { enter, begun, end } = open()
  void enter('a', 'a1')
  void enter('a', 'a2')
  const late = expect(enter('a', 'a3')).rejects.toThrow(Overloaded)
  const alsoLate = expect(enter('a', 'a4')).rejects.toThrow(Overloaded)
  await expect(enter('a', 'a5')).rejects.toThrow(Overloaded)
  await vi.advanceTimersByTimeAsync(1_001)
  await Promise.all([late, alsoLate])
  void enter('a', 'a6')
  await end('a1')
  expect(begun).toEqual(['a1', 'a2', 'a6'])
})
