import { connectKafka, inside, topicNames } from '@tally/kafka'
import { openLogger } from '@tally/runtime'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { beforeAll, expect, inject, test } from 'vitest'

const tally = useTally({ partitions: 1 })
const festival = newFestival()
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
})

test('a bad record that is larger than a topic takes, because it came compressed, is a dead letter and stops nothing', async () => {
  const value = 'a'.repeat(3 * 1024 * 1024)
  const kafka = connectKafka(
    { brokers: inject('servers').kafkaBrokers.split(','), ssl: false },
    { clientId: 'test', logger: openLogger('test', 'silent') },
  )
  const producer = inside(kafka).kafka.producer({ allowAutoTopicCreation: false })
  const { orders } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  await producer.connect()
  await producer.send({ topic: orders, compression: 1, messages: [{ key: festival.eventId, value }] })
  await producer.disconnect()
  await kafka.close()
  await tally.count([festival.order()])

  const { body } = await tally.get(`${festival.path}/analytics/kpis`, { token })
  expect(body.data.totalOrders).toBe(2)
  const deadLetters = await readDeadLetters(tally)
  expect(deadLetters.map(deadLetter => deadLetter.value?.length)).toEqual([value.length])
})
