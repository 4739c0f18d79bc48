import { randomUUID } from 'node:crypto'
import { createTopics, openProducer, topicNames } from '@tally/kafka'
import { ensureOffsets } from '@tally/offsets'
import { freshDatabase } from '@tally/testkit/servers/database'
import { connectForTest, onAnswers } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { follow } from './follow.ts'
import { openShadow, openShadowPostgres } from './shadow.ts'

/** Damages records with this text on their way from the broker. */
const damage = (text: string) =>
  onAnswers(bytes => {
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at] = 0x54
  })

test('a batch that cannot be decoded is skipped if the live tables have skipped it', async () => {
  const kafka = connectForTest()
  const { db, url, drop } = await freshDatabase()
  onTestFinished(drop)
  const topicPrefix = `test-${randomUUID()}`
  await createTopics(kafka, { topicPrefix, partitions: 1, replicationFactor: 1 })
  const { orders } = topicNames(topicPrefix)
  const producer = await openProducer(kafka)
  onTestFinished(() => producer.close())
  const text = `to be damaged ${topicPrefix}`
  for (const value of ['not an order', text, 'not an order'])
    await producer.send([{ topic: orders, key: 'k', value }])
  damage(text)
  await ensureOffsets(db, orders, [0])
  await db.updateTable('shard_offsets').set({ next_offset: 3 }).where('topic', '=', orders).execute()

  await openShadow(db, topicPrefix, async () => true)
  const shadow = await openShadowPostgres(db, url, 3)
  onTestFinished(() => shadow.destroy())
  const follower = await follow({ kafka, db, shadow }, { topicPrefix, groupId: topicPrefix })
  onTestFinished(() => follower.stop())
  await until('the shadow has caught up with the live tables', () => follower.behind() === 0)
  expect(follower.position()).toEqual({ done: 3, all: 3 })
})
