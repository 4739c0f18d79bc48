import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { inside } from './connection.ts'
import { logEnds } from './logEnds.ts'
import { endOffsets } from './offsets.ts'
import { beginTransaction, connectForTest, deleteBefore, newTopic, sendAll, texts } from './testing.ts'

const brokers = inject('servers').kafkaBrokers

test('the start and the end of the named partitions, and of no other', async () => {
  const connection = connectForTest(brokers)
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
          [0, { start: 0, end: 0 }],
          [2, { start: 2, end: 3 }],
        ]),
      ],
      [other, new Map([[0, { start: 0, end: 1 }]])],
    ]),
  )
})

test('the end lies behind the records of an open transaction', async () => {
  const connection = connectForTest(brokers)
  const topic = await newTopic(connection)
  const transaction = await beginTransaction(connection)
  await transaction.send({ topic, messages: [{ key: null, value: 'open' }] })
  await sendAll(connection, texts(topic, ['acknowledged']))
  const ofLog = await logEnds(connection, [{ topic, partition: 0 }])
  const ofReader = await endOffsets(connection, [topic])
  expect(ofLog.get(topic)?.get(0)).toEqual({ start: 0, end: 2 })
  expect(ofReader.get(topic)?.get(0)).toEqual({ start: 0, end: 0 })
  await transaction.abort()
})

test('partitions that were added are known at once, and a missing topic does not spoil the next question', async () => {
  const connection = connectForTest(brokers)
  const topic = await newTopic(connection)
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
