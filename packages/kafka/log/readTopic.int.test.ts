import { randomUUID } from 'node:crypto'
import {
  beginTransaction,
  connectForTest,
  deleteBefore,
  logOf,
  sendAll,
  textOf,
  texts,
  untilVisible,
} from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { TopicMissingError } from '../errors.ts'
import { readBack, readTopic, type TopicRead, topicLogs } from './readLog.ts'

const valuesOf = (reads: TopicRead[]) => reads.flatMap(({ records }) => records.map(textOf))

async function readAll(connection: KafkaConnection, topic: string): Promise<TopicRead[]> {
  const reads: TopicRead[] = []
  for await (const read of readTopic(connection, topic)) reads.push(read)
  return reads
}

test('an empty topic, and one whose records were all deleted, end at once', async () => {
  const { connection, topic } = await logOf([], { partitions: 3 })
  expect(await readAll(connection, topic)).toEqual([])
  await sendAll(connection, texts(topic, ['a', 'b']))
  await deleteBefore(connection, { topic, partition: 0, offset: 2 })
  expect(await readAll(connection, topic)).toEqual([])
})

test('every record of every partition is read once, from the first available one, in several reads', async () => {
  const { connection, topic } = await logOf([], { partitions: 3 })
  const many = Array.from({ length: 5_000 }, (_, i) => `${i}`.padEnd(2_000))
  await sendAll(connection, [...texts(topic, many, 0), ...texts(topic, ['deleted', 'kept'], 2)])
  await deleteBefore(connection, { topic, partition: 2, offset: 1 })
  const reads = await readAll(connection, topic)
  expect(valuesOf(reads)).toEqual([...many, 'kept'])
  expect(reads.length).toBeGreaterThan(2)
  expect(reads.at(-1)).toMatchObject({ partition: 2, from: 1, next: 2, left: 0 })
  expect(reads.reduce((sum, { from, next }) => sum + next - from, 0)).toBe(5_001)
})

test('what is sent while a topic is read is left out', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a'], 0), ...texts(topic, ['b'], 1)])
  const reads: TopicRead[] = []
  for await (const read of readTopic(connection, topic)) {
    if (reads.push(read) === 1)
      await sendAll(connection, [...texts(topic, ['c'], 0), ...texts(topic, ['d'], 1)])
  }
  expect(valuesOf(reads)).toEqual(['a', 'b'])
  expect(reads.map(({ left }) => left)).toEqual([1, 0])
})

test('records that are deleted while a topic is read are stepped over', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a'], 0), ...texts(topic, ['b', 'c'], 1)])
  const reads: TopicRead[] = []
  for await (const read of readTopic(connection, topic)) {
    if (reads.push(read) === 1) await deleteBefore(connection, { topic, partition: 1, offset: 1 })
  }
  expect(valuesOf(reads)).toEqual(['a', 'c'])
  expect(reads.at(-1)?.left).toBe(0)
})

test('control records and aborted transactions are no records, an open transaction ends the read before it', async () => {
  const { connection, topic } = await logOf()
  const messages = [{ key: null, value: 'in a transaction' }]
  await sendAll(connection, texts(topic, ['plain']))
  await (await begun(connection, topic, messages)).commit()
  await (await begun(connection, topic, messages)).abort()
  await untilVisible(connection, topic, 5)
  const all = ['plain', 'in a transaction']
  const closed = await readAll(connection, topic)
  expect(valuesOf(closed)).toEqual(all)
  expect(closed.at(-1)).toMatchObject({ next: 5, left: 0 })
  const open = await begun(connection, topic, messages)
  await sendAll(connection, texts(topic, ['behind it']))
  expect(valuesOf(await readAll(connection, topic))).toEqual(all)
  await open.abort()
  await untilVisible(connection, topic, 8)
  expect(valuesOf(await readAll(connection, topic))).toEqual([...all, 'behind it'])
})

test('no consumer group knows of it', async () => {
  const { connection, topic } = await logOf(['a'])
  await readAll(connection, topic)
  const { admin } = inside(connection)
  const { groups } = await admin.use(one => one.listGroups())
  const described = await admin.use(one => one.describeGroups(groups.map(({ groupId }) => groupId)))
  const readers = described.groups.flatMap(({ members }) =>
    members.map(({ memberMetadata }) => memberMetadata),
  )
  expect(readers.filter(metadata => metadata.includes(topic))).toEqual([])
  const committed = await admin.use(one =>
    Promise.all(groups.map(({ groupId }) => one.fetchOffsets({ groupId, topics: [topic] }))),
  )
  expect(new Set(committed.flat(2).flatMap(of => of.partitions.map(({ offset }) => offset)))).toEqual(
    new Set(groups.length > 0 ? ['-1'] : []),
  )
})

test('a topic that is not there names the command to run', async () => {
  const connection = connectForTest()
  await expect(readAll(connection, `test-${randomUUID()}`)).rejects.toThrow(TopicMissingError)
})

async function begun(connection: KafkaConnection, topic: string, messages: { key: null; value: string }[]) {
  const transaction = await beginTransaction(connection)
  await transaction.send({ topic, messages })
  return transaction
}

async function given(count: number) {
  const { connection, topic } = await logOf()
  const all = Array.from({ length: count }, (_, i) => `${i}`.padEnd(200))
  await sendAll(connection, texts(topic, all))
  return { connection, topic, all, of: { topic, partition: 0 } }
}

test('every record is read once, the newest first', async () => {
  const { connection, of, all } = await given(5_000)
  const values: string[] = []
  let from = all.length
  for await (const read of readBack(connection, of, { start: 0, end: all.length }, textOf)) {
    expect(read.kept).toHaveLength(from - read.from)
    from = read.from
    values.push(...read.kept)
  }
  expect(values).toEqual(all.toReversed())
})

test('the newest of 20,000 records cost no more than a window', async () => {
  const { connection, topic, of, all } = await given(20_000)
  const [[, log] = [0, { start: 0, end: 0 }]] = await topicLogs(connection, topic)
  let read = 0
  const keep = (record: Parameters<typeof textOf>[0]) => {
    read++
    return textOf(record)
  }
  for await (const { kept } of readBack(connection, of, log, keep)) {
    expect(kept[0]).toBe(all.at(-1))
    break
  }
  expect(read).toBe(128)
})

test('records that were deleted meanwhile are passed over', async () => {
  const { connection, topic, of, all } = await given(300)
  await deleteBefore(connection, { topic, partition: 0, offset: 250 })
  const values: string[] = []
  for await (const { kept } of readBack(connection, of, { start: 0, end: 300 }, textOf)) values.push(...kept)
  expect(values).toEqual(all.slice(250).toReversed())
})
