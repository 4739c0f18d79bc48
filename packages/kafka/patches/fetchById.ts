import type { PartitionData } from '../batches/fetchedBatch.ts'
import { Decoder, Encoder, readCompactBytes, readId, skipTaggedFields, writeId } from '../client/flexible.ts'
import { type Refused, refusedOf } from './refused.ts'

/** A partition to fetch. `topicId` and `leaderEpoch` are those of the log that the caller wants (KIP-516, KIP-320). */
type Wanted = {
  partition: number
  fetchOffset: string
  maxBytes: number
  topicId?: string
  leaderEpoch?: number
}
export type FetchRequest = {
  maxWaitTime: number
  minBytes: number
  maxBytes: number
  isolationLevel?: number
  topics: { topic: string; partitions: Wanted[] }[]
}
type IdentifiedRequest = Omit<FetchRequest, 'topics'> & {
  topics: { topic: string; partitions: Required<Wanted>[] }[]
}

type Answered = PartitionData & { topicId: string; errorCode: number; preferredReadReplica: number }
export type FetchResponse = {
  clientSideThrottleTime: number
  errorCode: number
  responses: { topicName: string; partitions: Answered[] }[]
  /** Partitions that are refused for now; they are not in `responses`. */
  refused: Refused[]
}

/** kafkajs's definition of a request, by version, and what one version of it makes of a request. */
type Definition = { versions: string[]; protocol(of: { version: number }): Protocol }
type Protocol = (request: FetchRequest) => { request: object; response: object; requestTimeout: number }
/** How kafkajs throws the error of a partition, and makes an error of a code. */
type Errors = {
  parse(data: FetchResponse): Promise<FetchResponse>
  createErrorFromCode(code: number): Error
}

const fetchKey = 1
const version = 13
const readCommitted = 1

/**
 * Adds Fetch version 13 (Kafka 3.1) to kafkajs 2.2.4, which stops at 11: partitions are requested by their topic's id
 * instead of its name, with the leader epoch, so that the broker itself refuses to read another log. Requests that name
 * no ids are sent as before. A partition that is refused is set apart (refused.ts); kafkajs would drop the whole
 * answer.
 *
 * The message: FetchRequest.json and FetchResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
export function addFetchById(fetch: Definition, { parse, createErrorFromCode }: Errors): void {
  const { protocol } = fetch
  fetch.versions.push(String(version))
  const byName = protocol({ version: 11 })
  fetch.protocol = () => request => {
    if (!isIdentified(request)) return byName(request)
    const { requestTimeout } = byName(request)
    return {
      request: {
        apiKey: fetchKey,
        apiVersion: version,
        apiName: 'Fetch',
        encode: async () => encodeFetch(request),
      },
      response: {
        decode: async (data: Buffer) => decodeFetch(data, request),
        async parse(data: FetchResponse) {
          if (data.errorCode !== 0) throw createErrorFromCode(data.errorCode)
          return parse(data)
        },
      },
      requestTimeout,
    }
  }
}

const isIdentified = (request: FetchRequest): request is IdentifiedRequest =>
  request.topics.every(({ partitions }) => partitions.every(({ topicId }) => topicId !== undefined))

/** The request without a fetch session. The header's tagged fields come first: kafkajs writes a header without them. */
export function encodeFetch(request: IdentifiedRequest): Encoder {
  const { maxWaitTime, minBytes, maxBytes, isolationLevel = readCommitted, topics } = request
  const wanted = topics.flatMap(({ partitions }) => partitions)
  return new Encoder()
    .writeUVarInt(0)
    .writeInt32(-1) // replica_id
    .writeInt32(maxWaitTime)
    .writeInt32(minBytes)
    .writeInt32(maxBytes)
    .writeInt8(isolationLevel)
    .writeInt32(0) // session_id
    .writeInt32(-1) // session_epoch
    .writeUVarIntArray(wanted.map(encodePartition))
    .writeUVarIntArray([]) // forgotten_topics_data
    .writeUVarIntString('') // rack_id
    .writeUVarInt(0)
}

/**
 * Each partition as a topic of its own: a topic may occur several times, and the order is that of the answer (KIP-74).
 */
function encodePartition({
  topicId,
  partition,
  leaderEpoch,
  fetchOffset,
  maxBytes,
}: Required<Wanted>): Encoder {
  const encoded = new Encoder()
    .writeInt32(partition)
    .writeInt32(leaderEpoch)
    .writeInt64(fetchOffset)
    .writeInt32(-1) // last_fetched_epoch
    .writeInt64(-1) // log_start_offset
    .writeInt32(maxBytes)
    .writeUVarInt(0)
  return writeId(new Encoder(), topicId).writeUVarIntArray([encoded]).writeUVarInt(0)
}

/**
 * The answer as kafkajs's version 11 has it; each partition names the topic id with which it was fetched. Partitions
 * without records or an error are left out: kafkajs would pass each of them to a worker, and a small fetch has records
 * of only one or two.
 */
export function decodeFetch(data: Buffer, { topics }: FetchRequest): FetchResponse {
  const names = new Map(
    topics.flatMap(({ topic, partitions }) => partitions.map(({ topicId }) => [topicId, topic] as const)),
  )
  const from = new Decoder(data)
  skipTaggedFields(from) // of the header
  const clientSideThrottleTime = from.readInt32()
  const errorCode = from.readInt16()
  from.readInt32() // session_id
  const responses = from.readUVarIntArray(() => {
    const topicId = readId(from)
    const partitions = from.readUVarIntArray(() => decodePartition(from, topicId)) ?? []
    skipTaggedFields(from)
    return { topicName: names.get(topicId) ?? topicId, partitions }
  })
  const answered = responses ?? []
  return {
    clientSideThrottleTime,
    errorCode,
    responses: answered.map(({ topicName, partitions }) => ({
      topicName,
      partitions: partitions.filter(
        one => refusedOf(topicName, one) === undefined && (one.errorCode !== 0 || one.messages.length > 0),
      ),
    })),
    refused: answered.flatMap(({ topicName, partitions }) =>
      partitions.flatMap(one => refusedOf(topicName, one) ?? []),
    ),
  }
}

function decodePartition(from: Decoder, topicId: string): Answered {
  const partition = from.readInt32()
  const errorCode = from.readInt16()
  const highWatermark = String(from.readInt64())
  from.readInt64() // last_stable_offset
  from.readInt64() // log_start_offset
  const abortedTransactions = from.readUVarIntArray(() => {
    const [producerId, firstOffset] = [String(from.readInt64()), String(from.readInt64())]
    skipTaggedFields(from)
    return { producerId, firstOffset }
  })
  const preferredReadReplica = from.readInt32()
  const messages = readCompactBytes(from)
  skipTaggedFields(from) // diverging_epoch, current_leader, snapshot_id
  return { topicId, partition, errorCode, highWatermark, abortedTransactions, preferredReadReplica, messages }
}
