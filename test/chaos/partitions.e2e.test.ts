import { inside, openProducer, topicNames } from '@tally/kafka'
import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { season } from '@tally/testkit/records/season'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { nodesOf } from '../hostile/everywhere.ts'

const tally = useTally({ partitions: 2, projectors: 2 })
const now = 5

const topics = () => {
  const { events, orders, refunds } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  return [events, orders, refunds]
}

/** Everything that Kafka has by now is counted, in all the partitions that there are now. */
async function settle(): Promise<void> {
  const since = Date.now()
  const shards = Array.from({ length: now }, (_, shard) => `${tally.settings.REDIS_PREFIX}:shard:{${shard}}`)
  await until('everything produced is counted', async () => {
    const moments = await Promise.all(
      shards.flatMap(shard => topics().map(topic => tally.redis.hget(shard, `as-of:${topic}`))),
    )
    return moments.every(moment => Number(moment ?? 0) >= since)
  })
}

/** What a FLUSHALL would do, but only to the keys of this test. */
async function loseRedis(): Promise<void> {
  const { settings } = tally
  for (const node of nodesOf(tally.redis)) {
    for await (const keys of node.scanStream({ match: `${settings.REDIS_PREFIX}:*`, count: 1_000 }))
      await Promise.all((keys as string[]).map(key => node.del(key)))
  }
}

const addPartitions = () =>
  inside(tally.kafka).admin.use(admin =>
    admin.createPartitions({ topicPartitions: topics().map(topic => ({ topic, count: now })) }),
  )

/** The documented step (docs/operations.md, Adding partitions): one after the other, each back before the next. */
async function restartProjectors(): Promise<void> {
  for (const projector of tally.projectors.splice(0)) {
    expect(await projector.end('SIGTERM')).toBe(0)
    await tally.startProjector()
  }
}

test('partitions that are added while projectors run leave the figures right', async () => {
  const { festivals, records } = season(11, { events: 8, orders: 200 })
  const middle = Math.floor(records.length / 2)
  const watched = Array.from({ length: 8 }, () => newFestival())
  await tally.count([
    ...watched.flatMap(festival => [festival.organization(), festival.event(), festival.order()]),
    ...records.slice(0, middle),
  ])
  const tokens = await Promise.all(watched.map(({ organizationId }) => tally.key(organizationId)))

  await addPartitions()
  // This producer knows the new partitions at once; the one of the rest sends to the old ones for up to 30 s.
  const producer = await openProducer(connectForTest(tally.settings.KAFKA_BROKERS ?? ''))
  const [, orders = ''] = topics()
  await producer.send(
    watched.map(festival => ({
      topic: orders,
      key: festival.eventId,
      value: JSON.stringify(festival.order().value),
    })),
  )
  const sentAt = Date.now()
  const sending = tally.produce(records.slice(middle, -100))
  const restarting = restartProjectors()
  const waiting = new Set(watched.keys())
  await until('the orders in the new partitions are counted', async () => {
    for (const index of waiting) {
      const { body } = await tally.get(`${watched[index]?.path}/analytics/kpis`, { token: tokens[index] })
      if (body.data.totalOrders === 2) waiting.delete(index)
      else expect(Date.parse(body.meta.asOf)).toBeLessThan(sentAt)
    }
    return waiting.size === 0
  })
  await Promise.all([sending, restarting, producer.close()])
  await settle()
  await tally.produce(records.slice(-100))
  await settle()
  await expectSeason(tally, festivals, records)
})

test('after it a projector that is killed and a Redis without its data heal all events, also those that moved', async () => {
  const { festivals, records } = season(12, { events: 10, orders: 100 })
  await tally.produce(records)
  const [victim] = tally.projectors.splice(0, 1)
  await victim?.end('SIGKILL')
  await loseRedis()
  await settle()
  await expectSeason(tally, festivals, records)
})
