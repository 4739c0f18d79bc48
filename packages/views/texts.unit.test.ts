import type { ReadModelRedis } from '@tally/publication'
import { expect, test } from 'vitest'
import { createTexts } from './fromRedis.ts'

/** Answers each name with its key, and a hash `bad` with the message of an error. */
function openFake() {
  const sent: string[][] = []
  const redis = {
    async readDocumentsOfEach(count: number, ...given: (string | number)[]) {
      const keys = given.slice(0, count) as string[]
      sent.push(keys)
      if (keys.includes('gone')) throw new Error('no connection')
      let at = count
      return keys.map(key => {
        const names = given.slice(at + 1, at + 1 + (given[at] as number))
        at += 1 + names.length
        return key === 'bad' ? 'WRONGTYPE' : names.map(name => `${key} ${name}`)
      })
    },
  } as unknown as ReadModelRedis
  return { sent, read: createTexts(redis) }
}

test('reads that begin together are one command, and each gets its own texts or error', async () => {
  const { sent, read } = openFake()
  const later = Promise.resolve().then(() => read('c', 'x'))
  const results = await Promise.allSettled([read('a', 'x', 'y'), read('bad', 'x'), read('b', 'z'), later])
  expect(sent).toEqual([['a', 'bad', 'b', 'c']])
  expect(results).toEqual([
    { status: 'fulfilled', value: ['a x', 'a y'] },
    { status: 'rejected', reason: new Error('WRONGTYPE') },
    { status: 'fulfilled', value: ['b z'] },
    { status: 'fulfilled', value: ['c x'] },
  ])
  await read('d', 'x')
  expect(sent).toHaveLength(2)
})

test('one command reads at most eight events', async () => {
  const { sent, read } = openFake()
  const keys = Array.from({ length: 20 }, (_, index) => `${index}`)
  expect(await Promise.all(keys.map(key => read(key, 'x')))).toEqual(keys.map(key => [`${key} x`]))
  expect(sent.map(({ length }) => length)).toEqual([8, 8, 4])
})

test('a command that fails is the failure of all its reads', async () => {
  const { read } = openFake()
  const results = await Promise.allSettled([read('a', 'x'), read('gone', 'x')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('in a cluster each read is a command of its own, which goes to the node of its key', async () => {
  const hmget = async (key: string, ...names: string[]) => names.map(name => `${key} ${name}`)
  const redis = { isCluster: true, hmget } as unknown as ReadModelRedis
  const read = createTexts(redis)
  expect(await Promise.all([read('a', 'x', 'y'), read('b', 'z')])).toEqual([['a x', 'a y'], ['b z']])
})
