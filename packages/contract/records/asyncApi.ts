import { type RecordType, recordTypes } from './decode.ts'
import { recordJsonSchema } from './jsonSchema.ts'

/** Partitions of the co-partitioned topics that `tally topics create` makes by default. */
const defaultPartitions = 6

/** The limit of events and orders, so that the largest of them fits (docs/install.md, Topics). */
const recordMaxBytes = 8 * 1024 * 1024

/** The limit of the dead-letter topic, so that a record with added headers always fits (docs/records.md, Topics). */
const deadLetterMaxBytes = 2 * 1024 * 1024
const deadLetterRetentionBytes = 4 * 1024 ** 3

const bindingVersion = '0.5.0'

const description = `What a producer sends to Tally. The rules behind the schemas are in docs/records.md.

- The record key decides the partition, with Kafka's standard partitioner (murmur2 of the key's bytes). Clients based
  on librdkafka need \`partitioner=murmur2_random\`.
- Events, orders and refunds have the same key and the same number of partitions, so that all records of an event are
  in one partition number.
- Any order and any repeat gives the same figures: the highest version wins.`

/** The AsyncAPI 3 document of Tally's topics under a prefix, made from the schemas that the projector judges with. */
export function asyncApiDocument({ topicPrefix }: { topicPrefix: string }) {
  const types = Object.keys(recordTypes) as RecordType[]
  const of = <Value>(value: (type: RecordType) => Value) =>
    Object.fromEntries(types.map(type => [type, value(type)] as const))
  return {
    asyncapi: '3.0.0',
    info: { title: 'Tally: records', version: '1.0.0', description },
    defaultContentType: 'application/json',
    channels: {
      ...of(type => recordChannel(type, topicPrefix)),
      deadLetters: deadLetterChannel(topicPrefix),
    },
    operations: {
      ...of(type => ({
        action: 'receive',
        channel: { $ref: `#/channels/${type}` },
        summary: `The projector applies each record of ${type}`,
        messages: [{ $ref: `#/channels/${type}/messages/${type}` }],
      })),
      deadLetters: {
        action: 'send',
        channel: { $ref: '#/channels/deadLetters' },
        summary: 'The projector sends what it rejects, with the reason',
        messages: [{ $ref: '#/channels/deadLetters/messages/deadLetter' }],
      },
    },
    components: { messages: { ...of(recordMessage), deadLetter } },
  }
}

const keptForever = { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1 }

function recordChannel(type: RecordType, topicPrefix: string) {
  const { keyField } = recordTypes[type]
  const isShared = type !== 'organizations'
  return {
    address: `${topicPrefix}.${type}`,
    title: type,
    description: isShared
      ? `Key: ${keyField}. Partition: murmur2 of the key. As many partitions as the other two topics keyed by eventId.`
      : `Key: ${keyField}. One partition.`,
    messages: { [type]: { $ref: `#/components/messages/${type}` } },
    bindings: {
      kafka: {
        topic: `${topicPrefix}.${type}`,
        partitions: isShared ? defaultPartitions : 1,
        topicConfiguration: {
          ...keptForever,
          ...((type === 'events' || type === 'orders') && { 'max.message.bytes': recordMaxBytes }),
        },
        'x-partitioner': 'murmur2',
        'x-co-partitioned': isShared,
        bindingVersion,
      },
    },
  }
}

function recordMessage(type: RecordType) {
  const { keyField, example } = recordTypes[type]
  const { $schema: _, ...payload } = recordJsonSchema(type, 'draft-07')
  return {
    name: type,
    title: payload.title,
    contentType: 'application/json',
    payload,
    bindings: { kafka: { key: keySchema(keyField), bindingVersion } },
    examples: [{ name: 'docs/records.md', payload: example }],
  }
}

const lowerCaseUuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'

const keySchema = (keyField: string) => ({
  type: 'string',
  pattern: lowerCaseUuid,
  description: `The ${keyField} of the value in lower case, as UTF-8 text: not JSON, no quotes, no schema id`,
})

function deadLetterChannel(topicPrefix: string) {
  const topic = `${topicPrefix}.dead-letters`
  return {
    address: topic,
    title: 'dead letters',
    description:
      'Rejected records with their key, value and headers unchanged, and the reason in added headers.',
    messages: { deadLetter: { $ref: '#/components/messages/deadLetter' } },
    bindings: {
      kafka: {
        topic,
        partitions: 1,
        topicConfiguration: {
          ...keptForever,
          'retention.bytes': deadLetterRetentionBytes,
          'max.message.bytes': deadLetterMaxBytes,
        },
        bindingVersion,
      },
    },
  }
}

const text = { type: 'string' }
const deadLetter = {
  name: 'deadLetter',
  title: 'Dead letter',
  contentType: 'application/octet-stream',
  summary: 'The value of the rejected record, whatever it was',
  headers: {
    type: 'object',
    required: ['tally.reason'],
    properties: {
      'tally.reason': text,
      '__connect.errors.topic': text,
      '__connect.errors.partition': text,
      '__connect.errors.offset': text,
      '__connect.errors.exception.message': {
        ...text,
        description: 'The field and what it takes, never its value',
      },
      'tally.value-bytes': text,
      'tally.value-sha256': text,
    },
  },
  bindings: {
    kafka: { key: { type: 'string', description: 'The key of the rejected record' }, bindingVersion },
  },
}
