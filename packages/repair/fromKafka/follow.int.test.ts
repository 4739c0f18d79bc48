import { randomUUID } from 'node:crypto'
import { readCounters } from '@tally/figures'
import { createTopics, topicNames } from '@tally/kafka'
import { ensureOffsets } from '@tally/offsets'
import { inSnapshot } from '@tally/platform'
import { type EventLimits, EventRoom, projectBatch } from '@tally/projection'
import { batchOf } from '@tally/testkit/projection/harness'
import { anOrder, festival, friday, saturday } from '@tally/testkit/records/records'
import { freshDatabase } from '@tally/testkit/servers/database'
import { connectForTest, onAnswers, producerForTest } from '@tally/testkit/servers/kafka'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { rebuild } from '../rebuild/rebuild.ts'
import { follow } from './follow.ts'
import { openShadow, openShadowPostgres } from './shadow.ts'
import { switchAll } from './switchAll.ts'

const { redis, keys } = await redisOfFile()

/** Damages records with this text on their way from the broker. */
const damage = (text: string) =>
  onAnswers(bytes => {
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at] = 0x54
  })

/** A database, and topics with one partition each. */
async function opened() {
  const kafka = connectForTest()
  const { db, url, drop } = await freshDatabase()
  onTestFinished(drop)
  const topicPrefix = `test-${randomUUID()}`
  await createTopics(kafka, { topicPrefix, partitions: 1, replicationFactor: 1 })
  const topics = topicNames(topicPrefix)
  await ensureOffsets(db, topics.orders, [0])
  const producer = await producerForTest(kafka)
  const reached = (next_offset: number) =>
    db.updateTable('shard_offsets').set({ next_offset }).where('topic', '=', topics.orders).execute()
  const openFollower = async (limits?: EventLimits) => {
    await openShadow(db, topicPrefix, async () => true)
    const shadow = await openShadowPostgres(db, url, 3)
    onTestFinished(() => shadow.destroy())
    const follower = await follow({ kafka, db, shadow }, { topicPrefix, groupId: topicPrefix, limits })
    onTestFinished(() => follower.stop())
    return { follower, shadow }
  }
  return { db, topics, producer, reached, openFollower }
}

test('a batch that cannot be decoded is skipped if the live tables have skipped it', async () => {
  const { topics, producer, reached, openFollower } = await opened()
  const text = `to be damaged ${topics.orders}`
  for (const value of ['not an order', text, 'not an order'])
    await producer.send([{ topic: topics.orders, key: 'k', value }])
  damage(text)
  await reached(3)
  const { follower } = await openFollower()
  await until('the shadow has caught up with the live tables', () => follower.behind() === 0)
  expect(follower.position()).toEqual({ done: 3, all: 3 })
})

const limits = { rows: 20, items: 100, timeBuckets: 100, paymentMethods: 100 } // a day takes six rows

test('an event that wrong orders had filled is made again as it is after its repair', async () => {
  const { db, topics, producer, reached, openFollower } = await opened()
  const rejected: string[] = []
  const live = { db, deadLetters: { send: async () => {}, committed: () => {} }, room: new EventRoom(limits) }
  let next = 0
  const send = async (orderId: string, dayId: number, version = 1) => {
    const order = anOrder({ orderId, dayId, version })
    await producer.send([{ topic: topics.orders, key: festival, value: JSON.stringify(order) }])
    const { effects } = await projectBatch(live, 'orders', batchOf(topics.orders, next++, [order], 0))
    if (effects?.rejected.length !== 0) rejected.push(orderId)
  }
  const stored = async () => ({
    orders: (await sql`select order_id, version, day_id from orders order by order_id`.execute(db)).rows,
    counters: await inSnapshot(db, tx => readCounters(tx, festival)),
  })
  await send('first', friday)
  for (const wrong of [1001, 1002]) await send(`wrong-${wrong}`, wrong)
  await send('good', saturday)
  await send('corrected', 1003)
  await send('never-corrected', 1004)
  expect(rejected).toEqual(['good', 'corrected', 'never-corrected'])
  await send('corrected', friday)
  for (const wrong of [1001, 1002]) await send(`wrong-${wrong}`, friday, 2)
  await rebuild({ db, redis, keys }, { topics })
  await send('good', saturday) // as a replay does
  const before = await stored()
  await reached(3) // so that their corrections are read in another batch
  const { follower, shadow } = await openFollower(limits)
  await until('the wrong orders have filled the event again', () => follower.position().done === 3)
  await reached(next)
  await until('the shadow has caught up with the live tables', () => follower.position().done === next)
  await switchAll({ db, locked: db, shadow, redis, keys, follower, topics, mayRemove: false, onRemoved() {} })
  expect(await stored()).toEqual(before)
  await send('next', 43)
  expect(rejected).toHaveLength(3)
})
