import { randomUUID } from 'node:crypto'
import { inside, type KafkaConnection, openProducer, topicNames } from '@tally/kafka'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { olderThan, readNewest } from './readDeadLetters.ts'
import { sendUnsent } from './replayed.ts'

const { db } = await databaseOfFile()

/** Given dead letters of these offsets of the orders. */
async function given(offsets: number[]) {
  const kafka: KafkaConnection = connectForTest()
  const topicPrefix = `test-${randomUUID()}`
  const { deadLetters: topic, orders } = topicNames(topicPrefix)
  await inside(kafka).admin.use(admin =>
    admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] }),
  )
  const producer = await openProducer(kafka)
  for (const offset of offsets) {
    const { key, value, headers } = deadLetterRecord(orders, { offset })
    await producer.send([{ topic, partition: 0, key, value, headers }])
  }
  await producer.close()
  return { deps: { kafka, db }, topicPrefix, id: (offset: number) => `${orders}-0-${offset}` }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('page after page, every dead letter is listed once, the newest first', async () => {
  const all = numbers(60)
  const { deps, topicPrefix, id } = await given(all)
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
  const { deps, topicPrefix, id } = await given([1, 2, 3, 1])
  const found = await readNewest(deps, topicPrefix, { limit: 10 })
  expect(found.entries.map(entry => entry.id)).toEqual([1, 3, 2].map(id))
  const replayed = found.entries.filter(entry => entry.id === id(3))
  await sendUnsent(db, replayed, async () => {})
  const { entries } = await readNewest(deps, topicPrefix, { limit: 10 })
  expect(entries.map(entry => entry.id)).toEqual([1, 2].map(id))
})

test('a page of replayed dead letters ends, and the next one reads on', async () => {
  const { deps, topicPrefix, id } = await given(numbers(200))
  const { entries } = await readNewest(deps, topicPrefix, { limit: 1_000 })
  await sendUnsent(db, entries.slice(0, 199), async () => {})
  const page = await readNewest(deps, topicPrefix, { limit: 50, mostRead: 100 })
  expect(page.entries).toEqual([])
  const before = olderThan(page, 50)
  expect(before).toBe('72')
  const next = await readNewest(deps, topicPrefix, { limit: 50, before, mostRead: 100 })
  expect(next.entries.map(entry => entry.id)).toEqual([id(0)])
  expect(olderThan(next, 50)).toBeUndefined()
})
