import { randomUUID } from 'node:crypto'
import { inside, type KafkaConnection, openProducer, topicNames } from '@tally/kafka'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { olderThan, readNewest } from './readDeadLetters.ts'
import { sendUnsent } from './replayed.ts'

const { db } = await databaseOfFile()

type Sent = { offset: number; partition?: number }

/** Given dead letters of these offsets of the orders, in these partitions of the dead-letter topic. */
async function given(partitions: number, entries: Sent[]) {
  const kafka: KafkaConnection = connectForTest()
  const topicPrefix = `test-${randomUUID()}`
  const { deadLetters: topic, orders } = topicNames(topicPrefix)
  await inside(kafka).admin.use(admin =>
    admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }] }),
  )
  const producer = await openProducer(kafka)
  for (const { offset, partition = 0 } of entries) {
    const { key, value, headers } = deadLetterRecord(orders, { offset })
    await producer.send([{ topic, partition, key, value, headers }])
    // Partitions are merged by timestamp: each dead letter gets one of its own.
    const sentMs = Date.now()
    await until('the clock has advanced', () => Date.now() > sentMs)
  }
  await producer.close()
  return { deps: { kafka, db }, topicPrefix, id: (offset: number) => `${orders}-0-${offset}` }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('page after page, every dead letter of every partition is listed once, the newest first', async () => {
  const all = numbers(60)
  const { deps, topicPrefix, id } = await given(
    3,
    all.map(offset => ({ offset, partition: offset % 3 })),
  )
  const listed: string[] = []
  let before: string | undefined
  do {
    const newest = await readNewest(deps, topicPrefix, { limit: 7, before })
    listed.push(...newest.entries.slice(0, 7).map(entry => entry.id))
    before = olderThan(newest, 7)
  } while (before !== undefined)
  expect(listed).toEqual(all.toReversed().map(id))
})

test('a dead letter that was written twice is listed once, at its latest place, and a replayed one is not', async () => {
  const { deps, topicPrefix, id } = await given(1, [
    { offset: 1 },
    { offset: 2 },
    { offset: 3 },
    { offset: 1 },
  ])
  const found = await readNewest(deps, topicPrefix, { limit: 10 })
  expect(found.entries.map(entry => entry.id)).toEqual([1, 3, 2].map(id))
  const replayed = found.entries.filter(entry => entry.id === id(3))
  await sendUnsent(db, replayed, async () => {})
  const { entries } = await readNewest(deps, topicPrefix, { limit: 10 })
  expect(entries.map(entry => entry.id)).toEqual([1, 2].map(id))
})

test('a page of replayed dead letters ends, and the next one reads on', async () => {
  const { deps, topicPrefix, id } = await given(
    1,
    numbers(200).map(offset => ({ offset })),
  )
  const { entries } = await readNewest(deps, topicPrefix, { limit: 1_000 })
  await sendUnsent(db, entries.slice(0, 199), async () => {})
  const page = await readNewest(deps, topicPrefix, { limit: 50, mostRead: 100 })
  expect(page.entries).toEqual([])
  const before = olderThan(page, 50)
  expect(before).toBe('0:72')
  const next = await readNewest(deps, topicPrefix, { limit: 50, before, mostRead: 100 })
  expect(next.entries.map(entry => entry.id)).toEqual([id(0)])
  expect(olderThan(next, 50)).toBeUndefined()
})
