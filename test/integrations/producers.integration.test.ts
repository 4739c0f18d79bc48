import { join } from 'node:path'
import { partitionOf, readTopic, topicNames } from '@tally/kafka'
import { useTally } from '@tally/testkit/processes/tally'
import { newEventId } from '@tally/testkit/records/records'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { ensureJars, jarsFolder } from '#infra/install/kafkaJars.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { copyWithMenu, largestMenus, type MenuOf } from './largestMenu.ts'
import { log, requireProgram } from './programs.ts'

/** docs/guides/producers: the same evening from four languages. */
const guide = join(import.meta.dirname, '../../docs/guides/producers')
const organizationId = '0b5a0000-0000-4000-8000-000000000001'
const partitions = 6
const tally = useTally({ partitions })

type Command = { program: string; args: string[]; cwd: string }

/** What runs each language's program, after its libraries were installed. */
const languages = {
  async Node() {
    return { program: process.execPath, args: ['sendOrders.mjs'], cwd: join(guide, 'node') }
  },
  async Python() {
    const python = (await pythonPrograms(['confluent-kafka==2.16.1'], log))('python')
    return { program: python, args: ['send_orders.py'], cwd: join(guide, 'python') }
  },
  async Java() {
    await ensureJars({ log, signal: undefined })
    return { program: 'java', args: ['-cp', `${jarsFolder}/*`, 'SendOrders.java'], cwd: join(guide, 'java') }
  },
  async Go() {
    await requireProgram('go', ['version'], 'Go 1.26 or later')
    return { program: 'go', args: ['run', '.'], cwd: join(guide, 'go') }
  },
} satisfies Record<string, () => Promise<Command>>

test('four languages write the same records to the same partitions, and Tally counts each order once', async () => {
  const eventIds = oneOfEachPartition()
  const written: Record<string, unknown[]> = {}
  for (const [language, prepare] of Object.entries(languages))
    written[language] = (await sentBy(await prepare(), eventIds)).map(({ record }) => record)

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

test.each([
  ['Node', largestMenus.Node],
  ['Python', largestMenus.Python],
  // As json.dumps writes by default: 4.9 MB.
  ['Python', { ...largestMenus.Python, more: ['ensure_ascii=False', 'ensure_ascii=True'] } satisfies MenuOf],
  ['Java', largestMenus.Java],
  ['Go', largestMenus.Go],
] as const)('%s sends the largest menu, and Tally answers with its names', async (language, menu) => {
  const eventId = newEventId()
  const command = await languages[language]()
  const { cwd, remove } = copyWithMenu(command.cwd, menu)
  const sent = await sentBy({ ...command, cwd }, [eventId]).finally(remove)
  const event = sent.find(({ record }) => 'menuItems' in record.value)
  expect(event?.record.value.menuItems).toHaveLength(2000)
  expect(event?.bytes).toBeGreaterThan('more' in menu ? 4_800_000 : 1_690_000)

  await tally.settle()
  const token = await tally.key(organizationId)
  const items = await tally.get(`/api/v1/events/${eventId}/live/item-counts?menuItemIds=7`, { token })
  expect(items.body.data).toMatchObject([{ menuItemId: 7, itemName: 'è'.repeat(200), quantitySold: 3 }])
  expect(await readDeadLetters(tally)).toEqual([])
})

/** Runs a program, and returns the records that it wrote. */
async function sentBy({ program, args, cwd }: Command, eventIds: string[]) {
  const { KAFKA_BROKERS = '', TOPIC_PREFIX = '' } = tally.settings
  const before = new Set((await allRecords()).map(({ place }) => place))
  await run(program, [...args, ...eventIds], { cwd, env: { KAFKA_BROKERS, TOPIC_PREFIX } })
  return (await allRecords()).filter(({ place }) => !before.has(place))
}

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
  const kafka = connectForTest()
  const { organizations, events, orders, refunds } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const all = []
  for (const topic of [organizations, events, orders, refunds])
    for await (const { partition, records } of readTopic(kafka, topic))
      for (const { offset, key, value } of records)
        all.push({
          place: `${topic}-${partition}-${offset}`,
          bytes: value?.length ?? 0,
          record: { topic, partition, key: String(key), value: JSON.parse(String(value)) },
        })
  return all
}
