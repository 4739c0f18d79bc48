import {
  deleteBefore,
  logOf,
  readForTest,
  sendAll,
  startAt,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

test('a busy partition does not keep the others from being fetched', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  const busy = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  await sendAll(connection, texts(topic, ['a0'], 0))
  const { records, consumer } = await readForTest(connection, {
    topics: [topic],
    async onBatch(batch) {
      if (batch.partition === 0 && batch.from === 0) {
        begun.resolve()
        await busy.promise
      }
      return batch.next
    },
  })
  await begun.promise
  for (const round of [1, 2, 3, 4]) {
    // A second and a third batch of the busy partition each time, too.
    await sendAll(connection, [...texts(topic, [`a${round}`], 0), ...texts(topic, [`b${round}`], 1)])
    const sentAt = Date.now()
    await until('the other partition goes on', () => records.length === round)
    expect(Date.now() - sentAt).toBeLessThan(1_000)
  }
  busy.resolve()
  await until('the busy one goes on', () => records.length === 9)
  const order = records.map(textOf).filter(text => text.startsWith('a'))
  expect(order).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  expect(consumer.state().batchErrors).toEqual([])
})

test('a batch that waited for one that failed is fetched again after it', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  const busy = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let tries = 0
  await sendAll(connection, texts(topic, ['a0']))
  const { records, batches } = await readForTest(connection, {
    topics: [topic],
    async onBatch(batch) {
      if (batch.partition === 0 && batch.from === 0 && tries++ === 0) {
        begun.resolve()
        await busy.promise
        throw new Error('it failed')
      }
      return batch.next
    },
  })
  await begun.promise
  await sendAll(connection, texts(topic, ['a1']))
  for (const round of [1, 2]) {
    await sendAll(connection, texts(topic, [`b${round}`], 1))
    await until('the loop goes on', () => records.length === round)
  }
  busy.resolve()
  await until('all are read', () => records.length === 4)
  const [first, ...others] = batches.filter(({ partition }) => partition === 0).map(({ from }) => from)
  expect(first).toBe(0)
  expect(others.every(from => from === 1)).toBe(true)
})

test('a held partition is not read until it is resumed, and continues at the offset that was sought', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, texts(topic, ['a0', 'a1', 'a2'], 0))
  const { records, consumer } = await readForTest(connection, { topics: [topic] })
  await until('it is read', () => records.length === 3)
  consumer.hold(topic, 0)
  await sendAll(connection, [...texts(topic, ['a3'], 0), ...texts(topic, ['b0'], 1)])
  await until('the other is read', () => records.length === 4)
  await sendAll(connection, texts(topic, ['b1'], 1))
  await until('the other is read further', () => records.length === 5)
  consumer.seek(topic, 0, 2)
  consumer.resume(topic, 0)
  await until('it goes on', () => records.length === 7)
  expect(records.slice(3).map(textOf)).toEqual(['b0', 'b1', 'a2', 'a3'])
})

test('a partition that onAssigned holds is not read, others are, also after a rebalance', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a0'], 0), ...texts(topic, ['b0'], 1)])
  let joins = 0
  const groupId = topic
  const { records, consumer } = await readForTest(connection, {
    topics: [topic],
    groupId,
    onAssigned() {
      joins++
      return new Map([[topic, new Map([[0, 'held' as const]])]])
    },
  })
  await until('the other is read', () => records.length === 1)
  const other = await readForTest(connection, { topics: [topic], groupId })
  await until('there was a rebalance', () => other.consumer.state().joined && joins > 1)
  await other.consumer.stop()
  await until('all is here again', () => consumer.state().assignment.get(topic)?.length === 2)
  await sendAll(connection, texts(topic, ['b1'], 1))
  await until('the other is read', () => records.some(record => textOf(record) === 'b1'))
  expect(records.map(textOf)).not.toContain('a0')
})

test('an offset outside the log is reported, that partition is held, and the others go on', async () => {
  const { connection, topic } = await logOf([], { partitions: 2 })
  await sendAll(connection, [...texts(topic, ['a0', 'a1', 'a2'], 0), ...texts(topic, ['b0'], 1)])
  await deleteBefore(connection, { topic, partition: 0, offset: 2 })
  const told: object[] = []
  let next = 500
  const { records, crashes, consumer } = await readForTest(connection, {
    topics: [topic],
    // Called again if the group rebalances, as it may on a busy machine.
    onAssigned: () => startAt(topic, next),
    onOutOfLog: of => void told.push(of),
  })
  await until('it is reported', () => told.length > 0)
  await until('the other is read', () => records.length === 1)
  expect(told[0]).toEqual({ topic, partition: 0, wanted: 500 })
  next = 1
  consumer.seek(topic, 0, 1)
  consumer.resume(topic, 0)
  await until('what is before its start is reported', () => told.length > 1)
  expect(told.at(-1)).toEqual({ topic, partition: 0, wanted: 1 })
  next = 2
  consumer.seek(topic, 0, 2)
  consumer.resume(topic, 0)
  await until('it goes on', () => records.length === 2)
  expect(crashes).toEqual([])
})
