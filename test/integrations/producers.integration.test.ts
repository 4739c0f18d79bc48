import { join } from 'node:path'
import { partitionOf, readTopic, topicNames } from '@tally/kafka'
import { useTally } from '@tally/testkit/processes/tally'
import { newEventId } from '@tally/testkit/records/records'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { expect, inject, test } from 'vitest'
import { run } from '#infra/command.ts'
import { haveJars, jarsFolder } from '#infra/install/kafkaJars.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { log, requireProgram } from './programs.ts'

/** docs/guides/producers: the same evening from four languages. */
const guide = join(import.meta.dirname, '../../docs/guides/producers')
const organizationId = '0b5a0000-0000-4000-8000-000000000001'
const partitions = 6
const tally = useTally({ partitions })

type Command = { program: string; args: string[]; cwd: string }

/** What runs each language's program, after its libraries were installed. */
const languages: Record<string, () => Promise<Command>> = {
  async Node() {
    return { program: process.execPath, args: ['sendOrders.mjs'], cwd: join(guide, 'node') }
  },
  async Python() {
    const python = (await pythonPrograms(['confluent-kafka==2.16.1'], log))('python')
    return { program: python, args: ['send_orders.py'], cwd: join(guide, 'python') }
  },
  async Java() {
    await haveJars({ log, signal: undefined })
    return { program: 'java', args: ['-cp', `${jarsFolder}/*`, 'SendOrders.java'], cwd: join(guide, 'java') }
  },
  async Go() {
    await requireProgram('go', ['version'], 'Go 1.26 or later')
    return { program: 'go', args: ['run', '.'], cwd: join(guide, 'go') }
  },
}

test('four languages write the same records to the same partitions, and Tally counts each order once', async () => {
  const eventIds = oneOfEachPartition()
  const { KAFKA_BROKERS = '', TOPIC_PREFIX = '' } = tally.settings
  const written: Record<string, unknown[]> = {}
  let before = new Set<string>()
  for (const [language, prepare] of Object.entries(languages)) {
    const { program, args, cwd } = await prepare()
    await run(program, [...args, ...eventIds], { cwd, env: { KAFKA_BROKERS, TOPIC_PREFIX } })
    const all = await allRecords()
    written[language] = all.filter(({ place }) => !before.has(place)).map(({ record }) => record)
    before = new Set(all.map(({ place }) => place))
  }

  expect(written.Node).toHaveLength(6 * eventIds.length)
  for (const language of Object.keys(languages)) expect(written[language]).toEqual(written.Node)

  await tally.settle()
  const token = await tally.key(organizationId)
  for (const eventId of eventIds) {
    const kpis = await tally.get(`/api/v1/events/${eventId}/analytics/kpis`, { token })
    expect(kpis.body.data).toMatchObject({ totalOrders: 2, totalSales: 45, totalItemsSold: 6 })
    const items = await tally.get(`/api/v1/events/${eventId}/live/item-counts`, { token })
    expect(items.body.data).toEqual([
      { menuItemId: 7, itemName: 'Fritto misto', quantitySold: 3, quantityRefunded: 0 },
      { menuItemId: 9, itemName: 'Acqua', quantitySold: 3, quantityRefunded: 1 },
    ])
  }
  expect(await readDeadLetters(tally)).toEqual([])
})

/** Ids of events that lie in partitions 0, 1, 2 … */
function oneOfEachPartition(): string[] {
  const found = new Map<number, string>()
  while (found.size < partitions) {
    const eventId = newEventId()
    found.set(partitionOf(Buffer.from(eventId), partitions), eventId)
  }
  return [...found].sort(([one], [other]) => one - other).map(([, eventId]) => eventId)
}

/** Every record of the topics, with the place that is its own; in the order of topic, partition and offset. */
async function allRecords() {
  const kafka = connectForTest(inject('servers').kafkaBrokers)
  const { organizations, events, orders, refunds } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const all = []
  for (const topic of [organizations, events, orders, refunds])
    for await (const { partition, records } of readTopic(kafka, topic))
      for (const { offset, key, value } of records)
        all.push({
          place: `${topic}-${partition}-${offset}`,
          record: { topic, partition, key: String(key), value: JSON.parse(String(value)) },
        })
  return all
}
