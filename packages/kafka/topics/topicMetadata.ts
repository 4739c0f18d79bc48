import type { Broker } from '../client/connection.ts'
import { type Decoder, Encoder, readId, skipTaggedFields, writeId } from '../client/flexible.ts'
import { askFlexible } from '../client/requests.ts'

/** A broker's metadata of a topic. A `topicId` is never used again; `leaderEpoch` grows with each election. */
export type TopicMetadata = {
  topic: string
  topicId: string
  partitions: { partition: number; leader: number; leaderEpoch: number }[]
}

/** The same of a topic that may be missing or forbidden: Kafka's error code, and a bit for each operation allowed. */
type AnsweredTopic = TopicMetadata & { errorCode: number; authorizedOperations: number }

const metadata = { apiKey: 3, apiVersion: 12, apiName: 'Metadata' }
/** Instead of the id of a topic that is asked for by name. */
const noId = '0'.repeat(32)

/**
 * Asks one broker for topic ids and leader epochs (Metadata version 12; kafkajs 2.2.4 stops at 6, which has neither).
 * Topics that do not exist are left out. Throws for a broker that is older than Tally needs. The message:
 * MetadataRequest.json and MetadataResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
export async function askTopicMetadata(broker: Broker, topics: string[]): Promise<TopicMetadata[]> {
  const answered = await askTopics(broker, topics)
  return answered.filter(({ errorCode }) => errorCode === 0)
}

/** The same for every topic asked for; `withRights`: with what this client may do with it. */
export async function askTopics(
  broker: Broker,
  topics: string[],
  { withRights = false } = {},
): Promise<AnsweredTopic[]> {
  if ((broker.versions?.[metadata.apiKey]?.maxVersion ?? 0) < metadata.apiVersion) throw new OldBrokerError()
  return askFlexible(broker, metadata, to => encode(to, topics, withRights), decode)
}

class OldBrokerError extends Error {
  override readonly name = 'KafkaOldBrokerError'
  constructor() {
    super('a broker is too old: Tally needs Kafka 3.6 or newer on all brokers. Upgrade them.')
  }
}

function encode(to: Encoder, topics: string[], withRights: boolean): Encoder {
  const all = topics.map(topic => writeId(new Encoder(), noId).writeUVarIntString(topic).writeUVarInt(0))
  return to
    .writeUVarIntArray(all)
    .writeBoolean(false) // allow_auto_topic_creation
    .writeBoolean(withRights) // include_topic_authorized_operations
    .writeUVarInt(0)
}

function decode(from: Decoder): AnsweredTopic[] {
  from.readInt32() // throttle_time_ms
  from.readUVarIntArray(() => {
    from.readInt32() // node_id
    from.readUVarIntString() // host
    from.readInt32() // port
    from.readUVarIntString() // rack
    skipTaggedFields(from)
  })
  from.readUVarIntString() // cluster_id
  from.readInt32() // controller_id
  return from.readUVarIntArray(() => decodeTopic(from)) ?? []
}

function decodeTopic(from: Decoder): AnsweredTopic {
  const errorCode = from.readInt16()
  const topic = from.readUVarIntString() ?? ''
  const topicId = readId(from)
  from.readBoolean() // is_internal
  const partitions = from.readUVarIntArray(() => decodePartition(from)) ?? []
  const authorizedOperations = from.readInt32()
  skipTaggedFields(from)
  return { errorCode, topic, topicId, partitions, authorizedOperations }
}

function decodePartition(from: Decoder): TopicMetadata['partitions'][number] {
  from.readInt16() // error_code
  const partition = from.readInt32()
  const leader = from.readInt32()
  const leaderEpoch = from.readInt32()
  for (let list = 0; list < 3; list++) from.readUVarIntArray(() => from.readInt32()) // replicas, in sync, offline
  skipTaggedFields(from)
  return { partition, leader, leaderEpoch }
}
