import { createRequire } from 'node:module'
import type { Broker } from '../client/cluster.ts'
// Must come before kafkajs's own modules: it patches them.
import '../client/kafkajs.ts'

/** A broker's metadata of a topic. A `topicId` is never used again; `leaderEpoch` grows with each election. */
export type TopicMetadata = {
  topic: string
  topicId: string
  partitions: { partition: number; leader: number; leaderEpoch: number }[]
}

const metadataKey = 3
const metadataVersion = 12

/**
 * Asks one broker for topic ids and leader epochs (Metadata version 12; kafkajs 2.2.4 stops at 6, which has neither).
 * Topics that do not exist are left out. Returns undefined for a broker that is older than Kafka 3.0.
 */
export async function askTopicMetadata(
  broker: Broker,
  topics: string[],
): Promise<TopicMetadata[] | undefined> {
  if ((broker.versions?.[metadataKey]?.maxVersion ?? 0) < metadataVersion) return undefined
  return broker.connectionPool.send<TopicMetadata[]>({
    request: {
      apiKey: metadataKey,
      apiVersion: metadataVersion,
      apiName: 'Metadata',
      encode: async () => encode(topics),
    },
    response: { decode: async (data: Buffer) => decode(data), parse: async (data: TopicMetadata[]) => data },
  })
}

/** The header's tagged fields come first: kafkajs writes and reads a header without them. */
function encode(topics: string[]): Encoder {
  const all = topics.map(topic => {
    const entry = new Encoder()
    entry.writeBufferInternal(noId)
    return entry.writeUVarIntString(topic).writeUVarInt(0)
  })
  return new Encoder()
    .writeUVarInt(0)
    .writeUVarIntArray(all)
    .writeBoolean(false) // allow_auto_topic_creation
    .writeBoolean(false) // include_topic_authorized_operations
    .writeUVarInt(0)
}

function decode(data: Buffer): TopicMetadata[] {
  const from = new Decoder(data)
  from.readTaggedFields()
  from.readInt32() // throttle_time_ms
  from.readUVarIntArray(() => {
    from.readInt32() // node_id
    from.readUVarIntString() // host
    from.readInt32() // port
    from.readUVarIntString() // rack
    from.readTaggedFields()
  })
  from.readUVarIntString() // cluster_id
  from.readInt32() // controller_id
  const topics = from.readUVarIntArray(() => decodeTopic(from)) ?? []
  return topics.filter(topic => topic !== undefined)
}

function decodeTopic(from: Decoder): TopicMetadata | undefined {
  const errorCode = from.readInt16()
  const topic = from.readUVarIntString() ?? ''
  const topicId = from.readBytes(16).toString('hex')
  from.readBoolean() // is_internal
  const partitions = from.readUVarIntArray(() => decodePartition(from)) ?? []
  from.readInt32() // topic_authorized_operations
  from.readTaggedFields()
  return errorCode === 0 ? { topic, topicId, partitions } : undefined
}

function decodePartition(from: Decoder): TopicMetadata['partitions'][number] {
  from.readInt16() // error_code
  const partition = from.readInt32()
  const leader = from.readInt32()
  const leaderEpoch = from.readInt32()
  for (let list = 0; list < 3; list++) from.readUVarIntArray(() => from.readInt32()) // replicas, in sync, offline
  from.readTaggedFields()
  return { partition, leader, leaderEpoch }
}

type Encoder = {
  writeBufferInternal(value: Buffer): void
  writeUVarIntString(value: string): Encoder
  writeUVarIntArray(value: Encoder[]): Encoder
  writeUVarInt(value: number): Encoder
  writeBoolean(value: boolean): Encoder
}
type Decoder = {
  readInt16(): number
  readInt32(): number
  readBoolean(): boolean
  readBytes(length: number): Buffer
  readUVarIntString(): string | null
  readUVarIntArray<T>(read: () => T): T[] | null
  readTaggedFields(): unknown
}

const require = createRequire(import.meta.url)
const Encoder: new () => Encoder = require('kafkajs/src/protocol/encoder.js')
const Decoder: new (data: Buffer) => Decoder = require('kafkajs/src/protocol/decoder.js')
const noId = Buffer.alloc(16)
