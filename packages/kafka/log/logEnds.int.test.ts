import { randomUUID } from 'node:crypto'
import {
  beginTransaction,
  connectForTest,
  deleteBefore,
  logOf,
  newTopic,
  sendAll,
  texts,
} from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../batches/records.ts'
import { inside } from '../client/connection.ts'
import { endOffsets, logEnds } from './logEnds.ts'
import { readRecordAt } from './readLog.ts'

const identity = { topicId: expect.stringMatching(/^[0-9a-f]{32}$/), leaderEpoch: expect.any(Number) }
test('the start and the end of the named partitions, and of no other', async () => {
  const connection = connectForTest()
  const [one, other] = [
    await newTopic(connection, { partitions: 3 }),
    await newTopic(connection, { partitions: 2 }),
  ]
  await sendAll(connection, [...texts(one, ['a', 'b', 'c'], 2), ...texts(other, ['d'], 0)])
  await deleteBefore(connection, { topic: one, partition: 2, offset: 2 })
  const ends = await logEnds(connection, [
    { topic: one, partition: 2 },
    { topic: one, partition: 0 },
    { topic: other, partition: 0 },
    { topic: other, partition: 7 },
  ])
  expect(ends).toEqual(
    new Map([
      [
        one,
        new Map([
          [0, { start: 0, end: 0, ...identity }],
          [2, { start: 2, end: 3, ...identity }],
        ]),
      ],
      [other, new Map([[0, { start: 0, end: 1, ...identity }]])],
    ]),
  )
  const ofTopic = (await endOffsets(connection, [one])).get(one)
  expect([ofTopic?.get(0), ofTopic?.get(2)]).toEqual([
    { start: 0, end: 0 },
    { start: 2, end: 3 },
  ])
})

test('the end lies after the records of an open transaction', async () => {
  const { connection, topic } = await logOf()
  const transaction = await beginTransaction(connection)
  await transaction.send({ topic, messages: [{ key: null, value: 'open' }] })
  await sendAll(connection, texts(topic, ['acknowledged']))
  const ofLog = await logEnds(connection, [{ topic, partition: 0 }])
  const ofReader = await endOffsets(connection, [topic])
  expect(ofLog.get(topic)?.get(0)).toMatchObject({ start: 0, end: 2 })
  expect(ofReader.get(topic)?.get(0)).toEqual({ start: 0, end: 0 })
  await transaction.abort()
})

test('added partitions are known at once, and a missing topic does not break the next request', async () => {
  const { connection, topic } = await logOf()
  await logEnds(connection, [{ topic, partition: 0 }])
  await inside(connection).admin.use(admin =>
    admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }),
  )
  await expect
    .poll(async () => (await logEnds(connection, [{ topic, partition: 1 }])).get(topic)?.size)
    .toBe(1)
  await expect(logEnds(connection, [{ topic: `test-${randomUUID()}`, partition: 0 }])).rejects.toThrow()
  expect((await logEnds(connection, [{ topic, partition: 0 }])).get(topic)?.size).toBe(1)
})

test('a topic that is deleted and created again is another log, whatever it holds', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  const of = [0, 1].map(partition => ({ topic, partition }))
  const before = await logEnds(connection, of)
  expect(await logEnds(connection, of)).toEqual(before)
  await inside(connection).admin.use(admin => admin.deleteTopics({ topics: [topic] }))
  await inside(connection).admin.use(admin =>
    admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 1 }] }),
  )
  await sendAll(connection, texts(topic, ['a']))
  const after = await logEnds(connection, of)
  expect(after.get(topic)?.get(0)).toMatchObject({ end: 1, ...identity })
  expect(after.get(topic)?.get(0)?.topicId).not.toBe(before.get(topic)?.get(0)?.topicId)
})

test('a record is found only at its own offset; another record at that offset has another fingerprint', async () => {
  const { connection, topic } = await logOf(['a', 'b', 'c'])
  const at = (offset: number) => readRecordAt(connection, { topic, partition: 0 }, offset)
  const found = await at(1)
  expect(found && String(found.value)).toBe('b')
  const again = await at(1)
  expect(found && fingerprintOf(found)).toEqual(again && fingerprintOf(again))
  expect(found && fingerprintOf({ ...found, value: Buffer.from('B') })).not.toEqual(
    found && fingerprintOf(found),
  )
  await deleteBefore(connection, { topic, partition: 0, offset: 2 })
  expect(await at(1)).toBeUndefined()
})
