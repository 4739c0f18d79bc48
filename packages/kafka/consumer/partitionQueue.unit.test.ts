import { expect, test } from 'vitest'
import { createPartitionQueues } from './generation.ts'

/** Queues, and work that ends when `end` is called. */
function given(limit: number) {
  const queues = createPartitionQueues(limit)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (name: string) =>
    queues.begin(name[0] as string, () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      return promise
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { queues, begun, begin, end }
}

const isOver = (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise(resolve => setImmediate(resolve, false))])

test('begin resolves as soon as the work has begun', async () => {
  const { begun, begin, queues } = given(2)
  await begin('a1')
  expect(begun).toEqual(['a1'])
  expect(queues.count()).toBe(1)
})

test('work on one partition is done one after the other, and other partitions do not wait for it', async () => {
  const { begun, begin, end } = given(2)
  await begin('a1')
  const second = begin('a2')
  expect(await isOver(second)).toBe(false)
  await begin('b1')
  await end('a1')
  await second
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('at most `limit` pieces of work are in progress, and the one that waits longest is next', async () => {
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

test('idle resolves when nothing is in progress or queued, again and again', async () => {
  const { begin, end, queues } = given(1)
  await queues.idle()
  for (const round of ['1', '2']) {
    await begin(`a${round}`)
    const waits = begin(`b${round}`)
    const idle = queues.idle()
    await end(`a${round}`)
    await waits
    expect(await isOver(idle)).toBe(false)
    await end(`b${round}`)
    await idle
    expect(queues.count()).toBe(0)
  }
})
