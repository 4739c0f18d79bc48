import { openProducer, type TopicNames } from '@tally/kafka'
import type { Environment } from '@tally/testkit/processes/process'
import type { Break } from './break.ts'
import type { Installation } from './installation.ts'

/** Kafka's codes of resource types. */
const topicResource = 2
const groupResource = 3

/** Allows another user to read, and thereby denies everyone who is not named. */
async function deny({ admin }: Installation, resourceType: number, resourceName: string): Promise<void> {
  const [literal, read, allow] = [3, 3, 3]
  const to = { resourceType, resourceName, resourcePatternType: literal }
  const acl = [{ ...to, principal: 'User:other', host: '*', operation: read, permissionType: allow }]
  await admin(client => client.createAcls({ acl }))
}

async function addPartitions(of: Installation, which: keyof TopicNames): Promise<Environment> {
  const { names, settings } = await of.otherTopics()
  const topicPartitions = [{ topic: names[which], count: 3 }]
  await of.admin(client => client.createPartitions({ topicPartitions }))
  return settings
}

/** The topic's other settings are then those of the broker. */
async function setTopic(
  of: Installation,
  which: keyof TopicNames,
  ...values: [name: string, value: string][]
): Promise<Environment> {
  const { names, settings } = await of.otherTopics()
  const resources = [
    {
      type: topicResource,
      name: names[which],
      configEntries: values.map(([name, value]) => ({ name, value })),
    },
  ]
  await of.admin(client => client.alterConfigs({ validateOnly: false, resources }))
  return settings
}

export const kafkaBreaks: Break[] = [
  { line: 'fail kafka', what: 'Kafka is down', make: () => ({ KAFKA_BROKERS: '127.0.0.1:1' }) },
  {
    line: 'fail kafka',
    what: 'TLS, where Kafka speaks none',
    says: /ended the connection before TLS began .*: name its port for TLS in KAFKA_BROKERS/,
    make: () => ({ KAFKA_SSL: 'true' }),
  },
  {
    line: 'fail kafka',
    what: 'no TLS, where Kafka speaks it',
    says: /it speaks TLS: set KAFKA_SSL=true/,
    make: ({ kafka }) => ({ KAFKA_BROKERS: kafka.tls }),
  },
  {
    line: 'fail kafka',
    what: 'credentials that Kafka does not take',
    make: () => ({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'hidden' }),
  },
  {
    line: 'warn kafka',
    what: 'one of two brokers is down',
    make: ({ kafka }) => ({ KAFKA_BROKERS: `127.0.0.1:1,${kafka.brokers}` }),
  },
  {
    line: 'fail kafka rights',
    what: 'a topic that may not be read',
    make: async of => {
      const { names, settings } = await of.otherTopics()
      await deny(of, topicResource, names.orders)
      return settings
    },
  },
  {
    line: 'fail kafka rights',
    what: 'a group that may not be joined',
    make: async of => {
      await deny(of, groupResource, 'forbidden')
      return { KAFKA_GROUP_ID: 'forbidden' }
    },
  },
  {
    line: 'fail topics',
    what: 'a topic is missing',
    make: async of => {
      const { names, settings } = await of.otherTopics()
      await of.admin(client => client.deleteTopics({ topics: [names.deadLetters] }))
      return settings
    },
  },
  {
    line: 'fail partitions',
    what: 'topics with different numbers of partitions',
    make: of => addPartitions(of, 'orders'),
  },
  {
    line: 'fail partitions',
    what: 'dead letters in several partitions',
    make: of => addPartitions(of, 'deadLetters'),
  },
  {
    line: 'fail retention',
    what: 'records that are deleted',
    make: of => setTopic(of, 'refunds', ['retention.ms', '604800000']),
  },
  {
    line: 'fail cleanup policy',
    what: 'records that are compacted',
    make: of => setTopic(of, 'refunds', ['cleanup.policy', 'compact']),
  },
  {
    line: 'warn dead letters',
    what: 'dead letters that are kept for ever',
    make: of => setTopic(of, 'deadLetters', ['retention.ms', '-1'], ['max.message.bytes', '2097152']),
  },
  {
    line: 'warn record size',
    what: 'dead letters that are refused with their value',
    make: of => setTopic(of, 'deadLetters', ['max.message.bytes', '1048588']),
  },
  {
    line: 'fail partitioner',
    what: 'a producer with another partitioner',
    make: async (of, undo) => {
      const { names, settings } = await of.otherTopics()
      const producer = await openProducer(of.tally.kafka)
      undo(() => producer.close())
      await producer.send(
        [0, 1].map(partition => ({ topic: names.orders, key: 'one', value: '', partition })),
      )
      return settings
    },
  },
  { line: 'fail group', what: 'no projector runs', make: () => ({ KAFKA_GROUP_ID: 'nobody' }) },
  {
    line: 'fail asOf',
    what: 'shards that no projector has read for two hours',
    says: /see stalled, group and transactions/,
    make: async of => (await of.otherTopics('2 hours')).settings,
  },
]
