import { randomUUID } from 'node:crypto'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import type { ITopicConfig } from 'kafkajs'
import { expect, test } from 'vitest'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { PartitionCountError, TopicMissingError } from '../errors.ts'
import { topicNames } from './names.ts'
import { readSmallTopics } from './settings.ts'
import { checkTopics, createTimeoutMs, createTopics, describeTopics } from './topics.ts'

/** Where a setting is from, as Kafka says it: the topic. */
const topicConfig = 1
const newPrefix = () => `test-${randomUUID()}`
const create = (connection: KafkaConnection, topicPrefix: string, partitions = 6) =>
  createTopics(connection, { topicPrefix, partitions, replicationFactor: 1 })

test('missing topics are created with the counts and settings that Tally needs', async () => {
  const connection = connectForTest()
  const prefix = newPrefix()
  const names = topicNames(prefix)
  expect(await create(connection, prefix, 3)).toEqual({ created: Object.values(names), existing: [] })
  expect(await describeTopics(connection, [...Object.values(names), `${prefix}.other`])).toEqual(
    new Map([
      [names.organizations, 1],
      [names.events, 3],
      [names.orders, 3],
      [names.refunds, 3],
      [names.deadLetters, 1],
    ]),
  )
  const kept = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
  const { organizations, refunds, events, orders, deadLetters } = names
  for (const topic of [organizations, refunds]) expect(await settingsOf(connection, topic)).toEqual(kept)
  for (const topic of [events, orders])
    expect(await settingsOf(connection, topic)).toEqual({ ...kept, 'max.message.bytes': '8388608' })
  expect(await settingsOf(connection, deadLetters)).toEqual({
    ...kept,
    'retention.bytes': '4294967296',
    'max.message.bytes': '2097152',
  })
  await checkTopics(connection, prefix)
})

test('existing topics stay as they are, also when two create them at once', async () => {
  const connection = connectForTest()
  const prefix = newPrefix()
  const made = await Promise.all([create(connection, prefix), create(connectForTest(), prefix)])
  const created = made.flatMap(({ created }) => created)
  expect(new Set(created).size, 'none is said to be created twice').toBe(created.length)
  expect((await describeTopics(connection, Object.values(topicNames(prefix)))).size).toBe(5)
  expect(await create(connection, prefix)).toMatchObject({ created: [] })
})

test('an existing topic with another partition count is an error that names both counts, and creates nothing', async () => {
  const connection = connectForTest()
  const prefix = newPrefix()
  const { orders, events } = topicNames(prefix)
  const topics = [{ topic: orders, numPartitions: 2, replicationFactor: 1 }]
  await inside(connection).admin.use(admin => admin.createTopics({ topics, timeout: createTimeoutMs }))
  await expect(create(connection, prefix)).rejects.toThrow(`${orders} has 2, wanted 6`)
  await expect(create(connection, prefix)).rejects.toThrow(PartitionCountError)
  expect(await describeTopics(connection, [orders, events])).toEqual(new Map([[orders, 2]]))
})

test('the error about a missing topic names the topic and the command to run', async () => {
  const connection = connectForTest()
  const prefix = newPrefix()
  await expect(checkTopics(connection, prefix)).rejects.toThrow(TopicMissingError)
  await expect(checkTopics(connection, prefix)).rejects.toThrow(
    `${prefix}.refunds, ${prefix}.dead-letters are not there: run \`tally topics create\``,
  )
})

test('topics that take smaller batches than new ones would are found, by their own setting or that of their broker', async () => {
  const connection = connectForTest()
  const names = topicNames(newPrefix())
  const make = (topics: ITopicConfig[]) =>
    inside(connection).admin.use(admin => admin.createTopics({ topics, timeout: createTimeoutMs }))
  const takes = (bytes: number) => [{ name: 'max.message.bytes', value: String(bytes) }]
  await make([
    { topic: names.organizations, configEntries: takes(5_000) },
    { topic: names.events },
    { topic: names.orders, configEntries: takes(20_000_000) },
    { topic: names.deadLetters, configEntries: takes(2_097_151) },
  ])
  const { refunds: _, ...made } = names
  expect(await readSmallTopics(connection, names, Object.values(made))).toEqual([
    { topic: names.events, bytes: 1_048_588, wanted: 8_388_608 },
    { topic: names.deadLetters, bytes: 2_097_151, wanted: 2_097_152 },
  ])
})

test('a service refuses topics whose shards do not fit', async () => {
  const connection = connectForTest()
  const prefix = newPrefix()
  const { refunds } = topicNames(prefix)
  await create(connection, prefix, 2)
  await inside(connection).admin.use(admin =>
    admin.createPartitions({ topicPartitions: [{ topic: refunds, count: 4 }] }),
  )
  const known = async () => (await describeTopics(connection, [refunds])).get(refunds)
  await until('the broker knows the new partitions', async () => (await known()) === 4)
  await expect(checkTopics(connection, prefix)).rejects.toThrow(
    `${prefix}.orders has 2, ${refunds} has 4: add partitions with kafka-topics.sh --alter to those that have fewer`,
  )
})

/** The settings that the topic itself has: those of the broker may be others elsewhere. */
async function settingsOf(connection: KafkaConnection, name: string): Promise<Record<string, string>> {
  const { resources } = await inside(connection).admin.use(admin =>
    admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name }] }),
  )
  const own = resources[0]?.configEntries.filter(({ configSource }) => configSource === topicConfig) ?? []
  return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]))
}
