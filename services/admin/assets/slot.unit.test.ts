import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { createSlot } from './slot.js'

type Slot = { hold(): boolean; release(): void }

/** The windows of one browser, whose clock can be set. */
function newBrowser() {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  const clock = { ms: 0 }
  const open = (id: string): Slot => createSlot(storage, id, () => clock.ms)
  return { open, clock, kept }
}

test('four windows of a browser keep a stream, and a fifth gets the place of one that was hidden', () => {
  const { open } = newBrowser()
  const windows = ['a', 'b', 'c', 'd', 'e'].map(open)
  const hold = () => windows.map(slot => slot.hold())
  expect(hold()).toEqual([true, true, true, true, false])
  expect(hold()).toEqual([true, true, true, true, false])
  windows[1]?.release()
  expect(windows[4]?.hold()).toBe(true)
  expect(windows[1]?.hold()).toBe(false)
})

test('the place of a window that crashed is free after five seconds, also if the clock was set back', () => {
  const { open, clock } = newBrowser()
  for (const id of ['a', 'b', 'c', 'd']) open(id).hold()
  const fifth = open('e')
  clock.ms = 4_999
  expect(fifth.hold()).toBe(false)
  clock.ms = 5_000
  expect(fifth.hold()).toBe(true)
  clock.ms = -5_000
  expect(open('f').hold()).toBe(true)
})

test('of two windows that take a place at the same moment, one gives way', () => {
  const { open, kept } = newBrowser()
  const [first, second, ...others] = ['a', 'b', 'c', 'd', 'e'].map(open) as [Slot, Slot, ...Slot[]]
  first.hold()
  for (const slot of others) slot.hold()
  kept.set('tally-stream-0', 'b 0')
  expect([second.hold(), first.hold()]).toEqual([true, false])
})

test('without storage, or with something else in it, a window has its stream', () => {
  const refused = () => {
    throw new Error('the browser allows no storage')
  }
  const alone: Slot = createSlot({ getItem: refused, setItem: refused, removeItem: refused }, 'a')
  expect(alone.hold()).toBe(true)
  alone.release()
  const { open, kept } = newBrowser()
  for (let index = 0; index < 4; index++) kept.set(`tally-stream-${index}`, 'x')
  expect(open('a').hold()).toBe(true)
})
