import { createRequire } from 'node:module'
import type { Broker } from '../client/connection.ts'
import {
  type Decoder,
  Encoder,
  readCompactBytes,
  readId,
  skipTaggedFields,
  writeId,
} from '../client/flexible.ts'
// Must come before kafkajs's own modules: it patches them.
import '../client/kafkajs.ts'
import { askFlexible } from '../client/requests.ts'
import type { LogIdentity } from '../types.ts'

/** A partition to fetch; with an identity, the broker itself refuses to read another log (KIP-516, KIP-320). */
export type Wanted = {
  topic: string
  partition: number
  offset: number
  maxBytes: number
  identity?: LogIdentity
}

export type FetchLimits = { maxWaitMs: number; maxBytes: number }

export type AbortedTransaction = { producerId: string; firstOffset: string }

/** What a broker answers for one partition: an error code of Kafka, or records as raw bytes. */
export type Answered = {
  topic: string
  partition: number
  errorCode: number
  /** Set if the partition was fetched by the id of its topic. */
  topicId?: string
  highWatermark: number
  lastStableOffset: number
  abortedTransactions: AbortedTransaction[]
  messages: Buffer
}

/** The first version that names topics by their ids (Kafka 3.1), and the last that names them by their names. */
const [versionById, versionByName] = [13, 12]
const readCommitted = 1
const unknownEpoch = -1

/**
 * Fetches partitions from their leader: all of them by the id of their topic, or all by its name. kafkajs 2.2.4 stops
 * at version 11, which knows no ids; it unpacks all records of an answer before anything else sees it, and drops the
 * whole answer if one partition has an error. Throws the error of the request as a whole.
 *
 * The message: FetchRequest.json and FetchResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
export async function fetchFrom(broker: Broker, limits: FetchLimits, wanted: Wanted[]): Promise<Answered[]> {
  const isById = wanted.every(({ identity }) => identity !== undefined)
  const { errorCode, partitions } = await askFlexible(
    broker,
    { apiKey: 1, apiVersion: isById ? versionById : versionByName, apiName: 'Fetch' },
    to => encodeFetch(to, limits, wanted),
    from => decodeFetch(from, wanted),
  )
  if (errorCode !== 0) throw errorOf(errorCode)
  return partitions
}

/** The error code of a partition whose log does not hold the offset. */
export const offsetOutOfRange = 1

/** kafkajs's error for an error code of Kafka. */
export const errorOf: (code: number) => Error = createRequire(import.meta.url)(
  'kafkajs/src/protocol/error.js',
).createErrorFromCode

/** The request without a fetch session. */
export function encodeFetch(to: Encoder, { maxWaitMs, maxBytes }: FetchLimits, wanted: Wanted[]): Encoder {
  return to
    .writeInt32(-1) // replica_id
    .writeInt32(maxWaitMs)
    .writeInt32(1) // min_bytes
    .writeInt32(maxBytes)
    .writeInt8(readCommitted)
    .writeInt32(0) // session_id
    .writeInt32(-1) // session_epoch
    .writeUVarIntArray(wanted.map(encodePartition))
    .writeUVarIntArray([]) // forgotten_topics_data
    .writeUVarIntString('') // rack_id
    .writeUVarInt(0)
}

/** Each partition as a topic of its own: a topic may occur several times; the answer has this order (KIP-74). */
function encodePartition({ topic, partition, offset, maxBytes, identity }: Wanted): Encoder {
  const encoded = new Encoder()
    .writeInt32(partition)
    .writeInt32(identity?.leaderEpoch ?? unknownEpoch)
    .writeInt64(offset)
    .writeInt32(-1) // last_fetched_epoch
    .writeInt64(-1) // log_start_offset
    .writeInt32(maxBytes)
    .writeUVarInt(0)
  const named = identity ? writeId(new Encoder(), identity.topicId) : new Encoder().writeUVarIntString(topic)
  return named.writeUVarIntArray([encoded]).writeUVarInt(0)
}

/** `clientSideThrottleTime`: ms for which kafkajs holds back the next request, if the broker has a quota (KIP-219). */
type DecodedFetch = { clientSideThrottleTime: number; errorCode: number; partitions: Answered[] }

export function decodeFetch(from: Decoder, wanted: Wanted[]): DecodedFetch {
  const names = new Map(wanted.map(({ topic, identity }) => [identity?.topicId ?? topic, topic]))
  const isById = wanted.every(({ identity }) => identity !== undefined)
  const clientSideThrottleTime = from.readInt32()
  const errorCode = from.readInt16()
  from.readInt32() // session_id
  const topics = from.readUVarIntArray(() => {
    const key = isById ? readId(from) : (from.readUVarIntString() ?? '')
    const of = { topic: names.get(key) ?? key, ...(isById && { topicId: key }) }
    const partitions = from.readUVarIntArray(() => decodePartition(from, of)) ?? []
    skipTaggedFields(from)
    return partitions
  })
  return { clientSideThrottleTime, errorCode, partitions: (topics ?? []).flat() }
}

function decodePartition(from: Decoder, of: { topic: string; topicId?: string }): Answered {
  const partition = from.readInt32()
  const errorCode = from.readInt16()
  const highWatermark = Number(from.readInt64())
  const lastStableOffset = Number(from.readInt64())
  from.readInt64() // log_start_offset
  const abortedTransactions = from.readUVarIntArray(() => {
    const [producerId, firstOffset] = [String(from.readInt64()), String(from.readInt64())]
    skipTaggedFields(from)
    return { producerId, firstOffset }
  })
  from.readInt32() // preferred_read_replica
  const messages = readCompactBytes(from)
  skipTaggedFields(from) // diverging_epoch, current_leader, snapshot_id
  return {
    ...of,
    partition,
    errorCode,
    highWatermark,
    lastStableOffset,
    abortedTransactions: abortedTransactions ?? [],
    messages,
  }
}
