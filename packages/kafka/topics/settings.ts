import { inside, type KafkaConnection } from '../client/connection.ts'
import type { TopicNames } from './names.ts'

/** Kafka's setting of the largest batch of records that a topic takes, as it is sent: compressed, if it is. */
export const largestBatch = 'max.message.bytes'

/**
 * What the topics of events and orders take (docs/install.md, Topics). If its producer writes every character as
 * \uXXXX, as Python's json.dumps does, the largest event has 5.3 MB and the largest order 3.6 MB. Not more than the
 * largest value that Tally reads, because hosted Kafkas often allow 8 MiB at most.
 */
const recordMaxBytes = 8 * 1024 * 1024

/** The dead letters' limit, so that a record with added headers always fits (docs/records.md, Topics). */
const deadLetterMaxBytes = 2 * 1024 * 1024

/**
 * How much of the dead letters Kafka keeps: a bound in bytes, because a flood of bad records fills a disk in hours and
 * a festival's mistake may be replayed months later. A dead letter of an order has 0.5 to 1 kB: 4 GiB are four million,
 * ten times the orders of a festival of 400,000 orders, each rejected once. The oldest ones go first.
 */
export const deadLetterRetentionBytes = 4 * 1024 ** 3

/** A broker may have limits of its own for topics that name none. */
const keepsEveryRecord = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }

/** The settings with which each topic is created, by its name (docs/records.md, Topics). */
export function topicSettings(names: TopicNames): Map<string, Record<string, string>> {
  const takes = (bytes: number) => ({ ...keepsEveryRecord, [largestBatch]: String(bytes) })
  return new Map<string, Record<string, string>>([
    [names.organizations, keepsEveryRecord],
    [names.events, takes(recordMaxBytes)],
    [names.orders, takes(recordMaxBytes)],
    [names.refunds, keepsEveryRecord],
    [
      names.deadLetters,
      { ...takes(deadLetterMaxBytes), 'retention.bytes': String(deadLetterRetentionBytes) },
    ],
  ])
}

/** A topic that takes smaller batches than a new one would, in bytes. */
export type SmallTopic = { topic: string; bytes: number; wanted: number }

/**
 * Those of the topics that take smaller batches than new ones would, by what applies to them: a setting of their own,
 * or else of their broker. Throws kafkajs's error if Kafka does not answer or forbids to read them.
 */
export async function readSmallTopics(
  connection: KafkaConnection,
  names: TopicNames,
  existing: string[],
): Promise<SmallTopic[]> {
  const all = topicSettings(names)
  const wantedOf = (topic: string) => Number(all.get(topic)?.[largestBatch] ?? 0)
  const limited = existing.filter(topic => wantedOf(topic) > 0)
  if (limited.length === 0) return []
  const configs = await topicConfigs(connection, limited, [largestBatch])
  return limited
    .map(topic => ({
      topic,
      bytes: Number(configs.get(topic)?.get(largestBatch) ?? Number.POSITIVE_INFINITY),
      wanted: wantedOf(topic),
    }))
    .filter(({ bytes, wanted }) => bytes < wanted)
}

const bounds = ['retention.ms', 'retention.bytes']

/** What keeps every record of a topic, for messages. */
export const keepsAll = 'cleanup.policy=delete, retention.ms=-1 and retention.bytes=-1'

/**
 * The settings that let Kafka remove records of each topic, as `name=value`; none if it keeps them all
 * (docs/records.md, Topics). Throws kafkajs's error if Kafka does not answer or forbids to read them.
 */
export async function readRetention(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, string[]>> {
  const configs = await topicConfigs(connection, topics, ['cleanup.policy', ...bounds])
  return new Map([...configs].map(([topic, config]) => [topic, retentionOf(config)]))
}

/** The settings of one topic that let Kafka remove records. */
export function retentionOf(config: Map<string, string>): string[] {
  const policy = config.get('cleanup.policy') ?? 'delete'
  const found = policy.includes('compact') ? [`cleanup.policy=${policy}`] : []
  if (!policy.includes('delete')) return found
  for (const name of bounds) {
    const value = config.get(name)
    if (value !== undefined && value !== '-1') found.push(`${name}=${value}`)
  }
  return found
}

const topicResource = 2

/** The given settings of each topic, by topic and name. Throws kafkajs's error if Kafka is down or forbids it. */
export async function topicConfigs(
  connection: KafkaConnection,
  topics: string[],
  names: string[],
): Promise<Map<string, Map<string, string>>> {
  const resources = topics.map(name => ({ type: topicResource, name, configNames: names }))
  const { resources: found } = await inside(connection).admin.use(admin =>
    admin.describeConfigs({ resources, includeSynonyms: false }),
  )
  return new Map(
    found.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  )
}
