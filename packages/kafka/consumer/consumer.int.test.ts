import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  beginTransaction,
  connectForTest,
  logOf,
  newTopic,
  readForTest,
  sendAll,
  startAt,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, onTestFinished, test, vi } from 'vitest'
import { inside } from '../client/connection.ts'

test('a group that has committed nothing reads from the first record', async () => {
  const { connection, topic } = await logOf(['a', 'b'])
  const { records, batches, consumer } = await readForTest(connection, { topics: [topic] })
  await until('both are read', () => records.length === 2)
  expect(batches[0]).toMatchObject({ topic, partition: 0, from: 0, lastStableOffset: 2 })
  expect(consumer.state()).toMatchObject({ joined: true, assignment: new Map([[topic, [0]]]) })
  expect(consumer.state().lastError).toBeUndefined()
})

test('partitions are read as soon as they are assigned, before leaders are asked for again', async () => {
  const { connection, topic } = await logOf(['a'])
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { records } = await readForTest(connection, { topics: [topic] })
  await until('it is read', () => records.length === 1)
})

test('what a reader can read ends before an open transaction', async () => {
  const { connection, topic } = await logOf(['a'])
  const transaction = await beginTransaction(connection)
  await transaction.send({ topic, messages: [{ key: null, value: 'open' }] })
  const { batches } = await readForTest(connection, { topics: [topic] })
  await until('it is read', () => batches.length > 0)
  expect(batches[0]).toMatchObject({ next: 1, lastStableOffset: 1 })
  await transaction.abort()
})

test('a consumer that is stopped while it connects or joins leaves all partitions to the others', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a'], 0), ...texts(topic, ['b'], 1)])
  const stops = [0, 2, 4, 6, 8, 12, 16, 24, 32, 64].map(async afterMs => {
    const groupId = `group-${randomUUID()}`
    const stopped = await readForTest(connection, { topics: [topic], groupId })
    await sleep(afterMs)
    await stopped.consumer.stop()
    const { consumer, records } = await readForTest(connection, { topics: [topic], groupId })
    const assigned = () => consumer.state().assignment.get(topic) ?? []
    // On a busy machine the first one may have read, and committed, before it was stopped.
    const read = () => new Set([...stopped.records, ...records].map(textOf))
    await until(
      `both partitions are read after a stop after ${afterMs} ms`,
      () => assigned().length === 2 && read().size === 2,
    )
  })
  await Promise.all(stops)
})

test('a batch that fails is tried again, in order, while other partitions go on', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a0', 'a1'], 0), ...texts(topic, ['b0'], 1)])
  let failing = true
  let tries = 0
  const { records, consumer } = await readForTest(connection, {
    topics: [topic],
    async onBatch(batch) {
      if (batch.partition === 0 && failing && ++tries > 0) throw new Error('Postgres is down')
      return batch.next
    },
  })
  await until('it was tried three times', () => tries >= 3)
  expect(consumer.state().lastError?.message).toBe('Postgres is down')
  await sendAll(connection, texts(topic, ['b1'], 1))
  await until('the other partition goes on', () => records.length === 2)
  failing = false
  await until('it succeeds', () => records.length === 4)
  expect(records.map(textOf)).toEqual(['b0', 'b1', 'a0', 'a1'])
  expect(consumer.state().lastError).toBeUndefined()
})

test('an offset that onBatch returns is read on from', async () => {
  const { connection, topic } = await logOf(['a', 'b', 'c', 'd'])
  let sought = false
  const { batches } = await readForTest(connection, {
    topics: [topic],
    async onBatch(batch) {
      if (sought) return batch.next
      sought = true
      return 1
    },
  })
  await until('it is read again', () => batches.length === 2)
  expect(batches[1]).toMatchObject({ from: 1, next: 4 })
})

test('a start that cannot be found is asked for again, and no batch comes before', async () => {
  const { connection, topic } = await logOf(['a', 'b'])
  let tries = 0
  const { batches } = await readForTest(connection, {
    topics: [topic],
    async onAssigned() {
      if (++tries < 3) throw new Error('Postgres is down')
      return startAt(topic, 1)
    },
  })
  await until('it is read', () => batches.length === 1)
  expect(batches[0]).toMatchObject({ from: 1, next: 2 })
  expect(tries).toBe(3)
})

test('a consumer that stops finishes its batch, commits it, and hands over at once', async () => {
  const { connection, topic } = await logOf()
  const groupId = `group-${randomUUID()}`
  await sendAll(connection, texts(topic, ['a', 'b']))
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const first = await readForTest(connection, {
    topics: [topic],
    groupId,
    async onBatch(batch) {
      begun.resolve()
      await finish.promise
      return batch.next
    },
  })
  await begun.promise
  const second = await readForTest(connection, { topics: [topic], groupId })
  const stopped = first.consumer.stop()
  finish.resolve()
  await stopped
  const stoppedAt = Date.now()
  expect(first.records).toHaveLength(2)
  const { groups } = await inside(connection).admin.use(admin => admin.describeGroups([groupId]))
  expect(groups[0]?.members).toHaveLength(1)
  await until(
    'the second has the partition',
    () => second.consumer.state().assignment.get(topic)?.length === 1,
  )
  expect(Date.now() - stoppedAt).toBeLessThan(5_000)
  await sendAll(connection, texts(topic, ['c']))
  await until('the second goes on', () => second.records.length > 0)
  expect(second.records.map(textOf)).toEqual(['c'])
})

test('two members share the shards, a third without any stays ready', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  const other = await newTopic(connection, { partitions: 2 })
  const groupId = `group-${randomUUID()}`
  const members = await Promise.all(
    [1, 2, 3].map(() => readForTest(connection, { topics: [topic, other], groupId })),
  )
  const shards = () => members.map(({ consumer }) => consumer.state().assignment.get(topic) ?? [])
  await until(
    'each shard has an owner of its own',
    () => String(shards().flat().sort()) === '0,1' && shards().every(owned => owned.length < 2),
  )
  await until('all are in the group', () => members.every(({ consumer }) => consumer.state().joined))
  for (const { consumer } of members) {
    expect(consumer.state().assignment.get(other)).toEqual(consumer.state().assignment.get(topic))
    await until('the broker answers it', () => consumer.state().lastFetchMs < 2_000)
  }
})

test('a long batch keeps its membership: heartbeats go on while it is worked on', async () => {
  const { connection, topic } = await logOf()
  const groupId = `group-${randomUUID()}`
  await sendAll(connection, texts(topic, ['a']))
  let joins = 0
  const { records } = await readForTest(connection, {
    topics: [topic],
    groupId,
    sessionTimeoutMs: 6_000,
    onAssigned: () => void joins++,
    async onBatch(batch) {
      // Longer than the session time-out, whose least value is 6 s on a broker with default settings.
      if (batch.from === 0) await sleep(8_000)
      return batch.next
    },
  })
  await until('it is done', () => records.length === 1)
  await sendAll(connection, texts(topic, ['b']))
  await until('the next is done', () => records.length === 2)
  expect(joins).toBe(1)
})

test('a batch that is being processed when its partition is revoked learns of it, and still counts', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  const groupId = `group-${randomUUID()}`
  await sendAll(connection, texts(topic, ['a']))
  let heardStale = false
  const begun = Promise.withResolvers<void>()
  const first = await readForTest(connection, {
    topics: [topic],
    groupId,
    async onBatch(batch, control) {
      begun.resolve()
      if (batch.from === 0) await until('it is stale', () => control.isStale())
      heardStale = true
      return batch.next
    },
  })
  await begun.promise
  const second = await readForTest(connection, { topics: [topic], groupId })
  await until('both have one partition', () =>
    [first, second].every(({ consumer }) => consumer.state().assignment.get(topic)?.length === 1),
  )
  await until('the batch has heard it', () => heardStale)
  expect(first.records.map(textOf)).toEqual(['a'])
})

test('a consumer has begun as soon as it knows where its partitions begin', async () => {
  const connection = connectForTest()
  const starts = Promise.withResolvers<undefined>()
  const { consumer } = await readForTest(connection, {
    topics: [await newTopic(connection)],
    onAssigned: () => starts.promise,
  })
  await until('it has joined', () => consumer.state().joined)
  expect(consumer.state().begun).toBe(false)
  starts.resolve(undefined)
  await until('it has begun', () => consumer.state().begun)
})

test('partitions that are added are read without a restart', async () => {
  const { connection, topic } = await logOf()
  const { records, consumer } = await readForTest(connection, { topics: [topic], metadataMaxAgeMs: 500 })
  await until('it has joined', () => consumer.state().joined)
  await inside(connection).admin.use(admin =>
    admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }),
  )
  await sendAll(connection, texts(topic, ['new'], 1))
  await until('it is read', () => records.length === 1)
  expect(consumer.state().assignment).toEqual(new Map([[topic, [0, 1]]]))
})

test('lag tools see the offsets that the consumer has committed', async () => {
  const { connection, topic } = await logOf()
  const groupId = `group-${randomUUID()}`
  await sendAll(connection, texts(topic, ['a', 'b', 'c']))
  await readForTest(connection, { topics: [topic], groupId })
  await until('Kafka knows', async () => {
    const [found] = await inside(connection).admin.use(admin =>
      admin.fetchOffsets({ groupId, topics: [topic] }),
    )
    return found?.partitions[0]?.offset === '3'
  })
})
