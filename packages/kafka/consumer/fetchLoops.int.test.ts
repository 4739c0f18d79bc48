import {
  connectForTest,
  newTopic,
  producerForTest,
  readForTest,
  sendAll,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { succeeds, until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { inside } from '../client/connection.ts'
import { logEnds } from '../log/logEnds.ts'
import { type LogIdentity, partitionKey, type TopicPartition } from '../types.ts'

/** Two topics with a record each, and a consumer that fetches what `checked` names. */
async function given() {
  const connection = connectForTest()
  const [one, other] = [await newTopic(connection), await newTopic(connection)]
  const identityOf = async (topic: string): Promise<LogIdentity> => {
    const log = (await logEnds(connection, [{ topic, partition: 0 }])).get(topic)?.get(0)
    return { topicId: log?.topicId ?? '', leaderEpoch: log?.leaderEpoch ?? -1 }
  }
  const checked = new Map<string, LogIdentity>()
  const check = async (topic: string, changed: Partial<LogIdentity> = {}) =>
    void checked.set(partitionKey({ topic, partition: 0 }), { ...(await identityOf(topic)), ...changed })
  const refused: TopicPartition[] = []
  const start = async () => ({
    ...(await readForTest(connection, {
      topics: [one, other],
      identityOf: of => checked.get(partitionKey(of)),
      onRefused: of => void refused.push(of),
    })),
  })
  await sendAll(connection, [...texts(one, ['a0']), ...texts(other, ['b0'])])
  return { connection, one, other, identityOf, check, refused, start }
}

test('a topic that is deleted, created again and grown is never read as the one before; others go on', async () => {
  const { connection, one, other, identityOf, check, refused, start } = await given()
  await Promise.all([check(one), check(other)])
  const { topicId } = await identityOf(one)
  const { records, batches, consumer, crashes } = await start()
  await until('both are read', () => records.length === 2)
  expect(batches.find(({ topic }) => topic === one)?.topicId).toBe(topicId)

  const { admin } = inside(connection)
  await admin.use(client => client.deleteTopics({ topics: [one] }))
  const wanted = [{ topic: one, numPartitions: 1, replicationFactor: 1 }]
  await until('it is there again', () =>
    succeeds(admin.use(client => client.createTopics({ topics: wanted }))),
  )
  await sendAll(connection, texts(one, ['c0', 'c1', 'c2']))
  await until('it is refused', () => refused.length > 0)
  await sendAll(connection, texts(other, ['b1']))
  await until('the other goes on', () => records.length === 3)
  expect(records.map(textOf).sort()).toEqual(['a0', 'b0', 'b1'])
  expect(refused).toEqual([{ topic: one, partition: 0 }])

  await check(one)
  consumer.seek(one, 0, 0)
  consumer.resume(one, 0)
  await until('the new one is read when it is wanted', () => records.length === 6)
  expect(records.slice(3).map(textOf)).toEqual(['c0', 'c1', 'c2'])
  expect(batches.at(-1)?.topicId).not.toBe(topicId)
  expect(crashes).toEqual([])
})

test('a partition whose broker does not know its leader epoch yet is tried again; others go on', async () => {
  const { one, other, check, refused, start } = await given()
  await Promise.all([check(one, { leaderEpoch: 1_000 }), check(other)])
  const { records, crashes } = await start()
  await until('the other is read', () => records.length === 1)
  await check(one)
  await until('it is read, without any request', () => records.length === 2)
  expect(records.map(textOf)).toEqual(['b0', 'a0'])
  expect(refused).toEqual([])
  expect(crashes).toEqual([])
})

test('a partition that was not checked is not fetched; others are', async () => {
  const { connection, one, other, check, start } = await given()
  await check(other)
  const { records } = await start()
  await until('the other is read', () => records.length === 1)
  await sendAll(connection, texts(other, ['b1']))
  await until('it goes on', () => records.length === 2)
  await check(one)
  await until('it is read once it was checked', () => records.length === 3)
  expect(records.map(textOf)).toEqual(['b0', 'b1', 'a0'])
})

test('records that come one by one in quick succession are fetched together, at most every 5 ms', async () => {
  const { connection, one, check, start } = await given()
  await check(one)
  const { records, batches } = await start()
  await until('it reads', () => records.length === 1)
  const producer = await producerForTest(connection)
  const [before, began] = [batches.length, performance.now()]
  for (let n = 1; n <= 200; n++) await producer.send(texts(one, [`a${n}`]))
  await until('all are read', () => records.length === 201)
  expect(records.map(textOf)).toEqual(Array.from({ length: 201 }, (_, n) => `a${n}`))
  expect(batches.length - before).toBeLessThanOrEqual((performance.now() - began) / 5 + 2)
})
