import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../client/backoff.ts'
import { inside, type KafkaConnection, requestTimeoutMs } from '../client/connection.ts'
import { PartitionCountError, TopicMissingError } from '../errors.ts'
import { topicNames } from './names.ts'
import { topicSettings } from './settings.ts'
import { askTopicMetadata } from './topicMetadata.ts'

/** As long as a request may take: after kafkajs's 5 s a busy controller is asked again for what it is creating. */
export const createTimeoutMs = requestTimeoutMs - 1_000

/** Number of checks whether a created topic is known: 30 s altogether. */
const maxChecks = 12

/**
 * Partition counts of those of the topics that exist. Asks about these topics alone: a projector asks several times a
 * second, also in a cluster of thousands of topics. Throws kafkajs's error if Kafka does not answer.
 */
export async function describeTopics(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, number>> {
  // No topic is asked for by the cluster itself: kafkajs throws for one that does not exist.
  return inside(connection).cluster.use([], async ({ brokerPool }) => {
    const found = await brokerPool.withBroker(({ broker }) => askTopicMetadata(broker, topics))
    if (found === null) throw new Error('no broker has answered which topics there are')
    return new Map(found.map(({ topic, partitions }) => [topic, partitions.length]))
  })
}

type NewTopics = { topicPrefix: string; partitions: number; replicationFactor: number }

/**
 * Creates the topics that are missing and leaves the others as they are. Throws PartitionCountError, before it creates
 * anything, if one exists with another partition count. Concurrent calls are safe: the second finds the first one's
 * topics. Returns once the brokers know all of them.
 */
export async function createTopics(
  connection: KafkaConnection,
  { topicPrefix, partitions, replicationFactor }: NewTopics,
): Promise<{ created: string[]; existing: string[] }> {
  const wanted = wantedPartitions(topicPrefix, partitions)
  const names = [...wanted.keys()]
  const before = await describeTopics(connection, names)
  requireCounts(before, wanted)
  const settings = topicSettings(topicNames(topicPrefix))
  const created: string[] = []
  for (const topic of names.filter(name => !before.has(name))) {
    const configEntries = Object.entries(settings.get(topic) ?? {}).map(([name, value]) => ({ name, value }))
    const numPartitions = wanted.get(topic) ?? 1
    const made = await inside(connection).admin.use(admin =>
      admin.createTopics({
        topics: [{ topic, numPartitions, replicationFactor, configEntries }],
        timeout: createTimeoutMs,
        waitForLeaders: false,
      }),
    )
    if (made) created.push(topic)
  }
  await untilKnown(connection, wanted)
  return { created, existing: names.filter(name => !created.includes(name)) }
}

function wantedPartitions(prefix: string, partitions: number): Map<string, number> {
  const { organizations, events, orders, refunds, deadLetters } = topicNames(prefix)
  return new Map([
    [organizations, 1],
    [events, partitions],
    [orders, partitions],
    [refunds, partitions],
    [deadLetters, 1],
  ])
}

/** Waits until the brokers know all of the topics: they learn of new ones a moment after the controller. */
async function untilKnown(connection: KafkaConnection, wanted: Map<string, number>): Promise<void> {
  for (let checks = 1; ; checks++) {
    const found = await describeTopics(connection, [...wanted.keys()])
    requireCounts(found, wanted)
    const missing = [...wanted.keys()].filter(topic => !found.has(topic))
    if (missing.length === 0) return
    if (checks === maxChecks) throw new TopicMissingError(missing)
    await sleep(backoffMs(checks))
  }
}

function requireCounts(found: Map<string, number>, wanted: Map<string, number>): void {
  const differing = [...found].filter(([topic, count]) => wanted.get(topic) !== count)
  if (differing.length === 0) return
  const list = differing.map(([topic, count]) => `${topic} has ${count}, wanted ${wanted.get(topic)}`)
  throw new PartitionCountError(
    `existing topics have another number of partitions: ${list.join('; ')}. ` +
      'Give --partitions the number that events, orders and refunds have; of the other topics, Tally wants 1. ' +
      'Or use another TOPIC_PREFIX.',
  )
}

/**
 * Checks at the start of a service that all topics are there, and that events, orders and refunds have the same number
 * of partitions (docs/records.md, Topics). Throws TopicMissingError or PartitionCountError.
 */
export async function checkTopics(connection: KafkaConnection, topicPrefix: string): Promise<void> {
  const names = topicNames(topicPrefix)
  const found = await describeTopics(connection, Object.values(names))
  const missing = Object.values(names).filter(topic => !found.has(topic))
  if (missing.length > 0) throw new TopicMissingError(missing)
  const copartitioned = [names.events, names.orders, names.refunds].map(topic => ({
    topic,
    count: found.get(topic),
  }))
  if (new Set(copartitioned.map(({ count }) => count)).size === 1) return
  throw new PartitionCountError(
    'events, orders and refunds must have the same number of partitions, but ' +
      `${copartitioned.map(({ topic, count }) => `${topic} has ${count}`).join(', ')}: ` +
      'add partitions with kafka-topics.sh --alter to those that have fewer, which keeps their records.',
  )
}
