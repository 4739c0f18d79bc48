import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { createRecent } from './recent.js'

const second = 1_000
const minute = 60 * second
const counts = (burger: number) => new Map([[7, burger]])

test('it counts from the first sample until the screen has seen ten minutes', () => {
  const recent = createRecent()
  expect(recent.since()).toBeUndefined()
  recent.sample(0, counts(40))
  expect([recent.since(), recent.of(7, 40)]).toEqual([0, 0])
  recent.sample(10 * second, counts(43))
  expect([recent.since(), recent.of(7, 43), recent.of(9, 2)]).toEqual([0, 3, 2])
})

test('after ten minutes what was sold before them no longer counts', () => {
  const recent = createRecent()
  for (let at = 0; at <= 20 * minute; at += 10 * second) recent.sample(at, counts(at / minute))
  expect([recent.since(), recent.of(7, 20)]).toEqual([null, 10])
})

test('after a pause longer than the window it begins again, and says so', () => {
  const recent = createRecent()
  for (let at = 0; at <= 12 * minute; at += 10 * second) recent.sample(at, counts(5))
  recent.sample(40 * minute, counts(900))
  recent.sample(40 * minute + 10 * second, counts(903))
  expect([recent.since(), recent.of(7, 903)]).toEqual([40 * minute, 3])
})

test('samples are ten seconds apart, and a clock that was set back begins again', () => {
  const recent = createRecent()
  const isTaken = [0, 9, 10, 19, 20].map(at => recent.sample(at * second, counts(1)))
  expect(isTaken).toEqual([true, false, true, false, true])
  expect(recent.sample(-minute, counts(1))).toBe(true)
  expect(recent.since()).toBe(-minute)
})

test('what was taken back is below zero', () => {
  const recent = createRecent()
  recent.sample(0, counts(5))
  expect(recent.of(7, 3)).toBe(-2)
})
