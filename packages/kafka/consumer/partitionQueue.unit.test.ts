import { expect, test } from 'vitest'
import { openLanes } from './partitionQueue.ts'

/** Lanes, and works of them that end when they are told to. */
function given(limit: number) {
  const lanes = openLanes(limit)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (name: string) =>
    lanes.begin(name[0] as string, () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      return promise
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { lanes, begun, begin, end }
}

const isOver = (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise(resolve => setImmediate(resolve, false))])

test('who brings a work goes on as soon as it has begun', async () => {
  const { begun, begin, lanes } = given(2)
  await begin('a1')
  expect(begun).toEqual(['a1'])
  expect(lanes.count()).toBe(1)
})

test('the works of a lane follow each other, those of others do not wait for them', async () => {
  const { begun, begin, end } = given(2)
  await begin('a1')
  const second = begin('a2')
  expect(await isOver(second)).toBe(false)
  await begin('b1')
  await end('a1')
  await second
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('no more than the limit are under way, and the one that waits longest is next', async () => {
  const { begun, begin, end } = given(2)
  await begin('a1')
  await begin('b1')
  const [third, fourth] = [begin('c1'), begin('d1')]
  expect(await isOver(third)).toBe(false)
  await end('b1')
  await third
  expect(await isOver(fourth)).toBe(false)
  expect(begun).toEqual(['a1', 'b1', 'c1'])
})

test('all is idle when nothing is under way and nothing waits, again and again', async () => {
  const { begin, end, lanes } = given(1)
  await lanes.idle()
  for (const round of ['1', '2']) {
    await begin(`a${round}`)
    const waits = begin(`b${round}`)
    const idle = lanes.idle()
    await end(`a${round}`)
    await waits
    expect(await isOver(idle)).toBe(false)
    await end(`b${round}`)
    await idle
    expect(lanes.count()).toBe(0)
  }
})
