import { newEventId } from '@tally/testkit/records/records'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { beforeEach, expect, test } from 'vitest'
import { complete } from './keys.ts'
import { readDocumentsOfEach } from './readDocuments.ts'

const { redis, keys } = await redisOfFile()
let key: string
beforeEach(() => {
  key = keys.event(newEventId())
})

const whole = (revision: number, ...fields: string[]) =>
  redis.publish(key, revision, 'whole', 0, 'epoch', '1', 'complete', complete, ...fields)
const difference = (revision: number, since: number, ...fields: string[]) =>
  redis.publish(key, revision, since, 0, 'epoch', '1', ...fields)
const read = async (name: string) => (await redis.readDocuments(key, name))[0]

test('an items document is read in one piece, in the order of its segments, without empty ones', async () => {
  await whole(
    5,
    'segments:41:0',
    '0,2,10',
    'items:41:0:0',
    '[1]',
    'items:41:0:10',
    '[40],[41]',
    'items:41:0:2',
    '',
  )
  expect(await read('items:41:0')).toBe('[[1],[40],[41]]')
  await whole(6, 'segments:41:0', '')
  expect(await read('items:41:0')).toBe('[]')
})

test('a segment that is new in a difference is added to the list of its document, in order and once', async () => {
  await whole(5, 'segments:41:0', '2', 'items:41:0:2', '[8]')
  expect(await difference(6, 5, 'items:41:0:10', '[40]', 'items:41:0:0', '[1]')).toBe('stored')
  expect(await difference(7, 6, 'items:41:0:10', '[41]', 'items:41:2:3', '[12]')).toBe('stored')
  expect(await redis.hmget(key, 'segments:41:0', 'segments:41:2')).toEqual(['0,2,10', '3'])
  expect(await read('items:41:0')).toBe('[[1],[8],[41]]')
})

test('a difference with the list of its segments replaces the list', async () => {
  await whole(5, 'segments:41:0', '2,3', 'items:41:0:2', '[8]', 'items:41:0:3', '[12]')
  await difference(6, 5, 'segments:41:0', '2,4', 'items:41:0:2', '[9]', 'items:41:0:4', '[16]')
  expect(await read('items:41:0')).toBe('[[9],[16]]')
})

test('a segment that a replaced list lacks is removed, and listed again once it is sold again', async () => {
  await whole(5, 'segments:41:0', '2,10', 'items:41:0:2', '[8]', 'items:41:0:10', '[40]')
  await difference(6, 5, 'segments:41:0', '2', 'items:41:0:2', '[9]')
  expect(await read('items:41:0')).toBe('[[9]]')
  expect(await redis.hexists(key, 'items:41:0:10')).toBe(0)
  await difference(7, 6, 'items:41:0:10', '[41]', 'items:41:0:2', '[8]')
  expect(await redis.hget(key, 'segments:41:0')).toBe('2,10')
  expect(await read('items:41:0')).toBe('[[8],[41]]')
})

test('a hash from before there were segments takes no difference, and its items documents are missing', async () => {
  await redis.publish(
    key,
    5,
    'whole',
    0,
    'epoch',
    '1',
    'complete',
    '1',
    'kpis:41:0',
    '{}',
    'items:41:0',
    '[{}]',
  )
  expect(await redis.readDocuments(key, 'complete', 'kpis:41:0', 'items:41:0')).toEqual(['1', '{}', null])
  expect(await difference(6, 5, 'items:41:0:10', '[40]')).toBe('gap')
})

test('a document with 3,000 segments is read, and so are 3,000 documents at once', async () => {
  const numbers = Array.from({ length: 3_000 }, (_, number) => number)
  await whole(5, 'segments:41:0', numbers.join(), ...numbers.flatMap(n => [`items:41:0:${n}`, `[${n}]`]))
  expect(JSON.parse((await read('items:41:0')) ?? '')).toEqual(numbers.map(n => [n]))
  const names = numbers.map(n => `items:41:0:${n}x`)
  expect(await redis.readDocuments(key, ...names, 'revision')).toEqual([...names.map(() => null), '5'])
})

test('several events are read in one command; one whose key holds something else is an error, and the others are read', async () => {
  const [other, third] = [keys.event(newEventId()), keys.event(newEventId())]
  await whole(5, 'segments:41:0', '2', 'items:41:0:2', '[8]', 'kpis:41:0', '{}')
  await redis.publish(other, 6, 'whole', 0, 'epoch', '1', 'complete', complete, 'kpis:41:0', '{"revenue":1}')
  await redis.set(third, 'no hash')
  const wanted = [
    { key, names: ['revision', 'items:41:0', 'kpis:41:0'] },
    { key: third, names: ['revision', 'items:41:0'] },
    { key: keys.event(newEventId()), names: ['revision', 'items:41:0'] },
    { key: other, names: ['kpis:41:0'] },
    { key, names: [] },
  ]
  expect(await readDocumentsOfEach(redis, wanted)).toEqual([
    ['5', '[[8]]', '{}'],
    expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
    [null, null],
    ['{"revenue":1}'],
    [],
  ])
  await expect(redis.readDocuments(third, 'revision')).rejects.toThrow('WRONGTYPE')
})
