import { complete } from '@tally/publication'
import { newEventId } from '@tally/testkit/records/records'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { beforeEach, expect, test } from 'vitest'
import { createTexts } from './fromRedis.ts'

const { redis, keys } = await redisOfFile()
const read = createTexts(redis)
let key: string
beforeEach(() => {
  key = keys.event(newEventId())
})

const whole = (revision: number, ...fields: string[]) =>
  redis.publish(key, revision, 'whole', 0, 'epoch', '1', 'complete', complete, ...fields)

test('3,000 documents of an event are read at once', async () => {
  const numbers = Array.from({ length: 3_000 }, (_, number) => number)
  await whole(5, ...numbers.flatMap(dayId => [`kpis:${dayId}:0`, `[${dayId}]`]))
  const names = numbers.map(dayId => `kpis:${dayId}:0`)
  const texts = await read(key, ...names, 'items:1:0', 'revision')
  expect(texts).toEqual([...numbers.map(dayId => `[${dayId}]`), null, '5'])
})

test('several events are read in one command; one whose key holds something else is an error, and the others are read', async () => {
  const [other, third] = [keys.event(newEventId()), keys.event(newEventId())]
  await whole(5, 'items:41:0', '[[8]]', 'kpis:41:0', '{}')
  await redis.publish(other, 6, 'whole', 0, 'epoch', '1', 'complete', complete, 'kpis:41:0', '{"revenue":1}')
  await redis.set(third, 'no hash')
  const wanted = [
    { key, names: ['revision', 'items:41:0', 'kpis:41:0'] },
    { key: third, names: ['revision', 'items:41:0'] },
    { key: keys.event(newEventId()), names: ['revision', 'items:41:0'] },
    { key: other, names: ['kpis:41:0'] },
    { key, names: [] },
  ]
  const reading = wanted.map(({ key, names }) => read(key, ...names).catch(error => error))
  expect(await Promise.all(reading)).toEqual([
    ['5', '[[8]]', '{}'],
    expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
    [null, null],
    ['{"revenue":1}'],
    [],
  ])
  await expect(redis.hmget(third, 'revision')).rejects.toThrow('WRONGTYPE')
})
