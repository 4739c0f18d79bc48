import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Producer as KafkajsProducer, Message, ProducerBatch } from 'kafkajs'
import { backoffMs } from '../client/backoff.ts'
import { inside, type KafkaConnection, retryPolicy } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'
import { isTooLarge, isWrongTime, KafkaSendError } from '../errors.ts'
import type { OutgoingRecord, Producer } from '../types.ts'

/** Limits of one request, unless a single record is larger: by default a broker accepts 1 MiB per batch. */
const requestBytes = 900_000
const requestRecords = 1_000
type Smaller = (record: OutgoingRecord) => OutgoingRecord | undefined

/** Room for lengths, offsets and timestamps of one record. */
const recordOverheadBytes = 32

/** Opens a producer: all in-sync replicas acknowledge, keys go to partitions as Kafka's Java client sends them. */
export async function openProducer(connection: KafkaConnection): Promise<Producer> {
  const producer = inside(connection).kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    metadataMaxAge: 30_000,
    retry: { ...retryPolicy, retries: 0 },
  })
  await producer.connect()
  const send = async (request: OutgoingRecord[], timeMs?: number): Promise<void> => {
    try {
      await sendWhole(producer, {
        acks: -1,
        compression: compressionOf(request),
        topicMessages: byTopic(request, timeMs),
      })
    } catch (error) {
      const acceptedMs = acceptedTime(request)
      if (timeMs === undefined && acceptedMs !== undefined && isWrongTime(error))
        return send(request, acceptedMs)
      throw new KafkaSendError([...new Set(request.map(({ topic }) => topic))], error as Error)
    }
  }
  const sendFitting = async (request: OutgoingRecord[], smaller: Smaller): Promise<void> => {
    try {
      await send(request)
    } catch (error) {
      const [record] = request
      if (record === undefined || !isTooLarge(error)) throw error
      const half = Math.ceil(request.length / 2)
      const instead = request.length === 1 ? smaller(record) : undefined
      if (instead !== undefined) return sendFitting([instead], smaller)
      if (request.length === 1) throw error
      // The batch was too large as a whole. Its records are sent in order, each once.
      await sendFitting(request.slice(0, half), smaller)
      await sendFitting(request.slice(half), smaller)
    }
  }
  return {
    async send(records, smaller = () => undefined) {
      // One after the other: in kafkajs one request may overtake another, and each is retried separately.
      for (const request of requestsOf(records)) await sendFitting(request, smaller)
    },
    close: () => producer.disconnect(),
  }
}

/**
 * Sends a batch, and all of it again after an error that kafkajs calls retriable. kafkajs's own retry leaves out each
 * broker that has answered already, and with it, silently, the records of a partition that has moved there meanwhile
 * (kafkajs 2.2.4, sendMessages.js).
 */
async function sendWhole(producer: KafkajsProducer, batch: ProducerBatch): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return void (await producer.sendBatch(batch))
    } catch (error) {
      const isRetriable = (error as Error).name === 'KafkaJSNumberOfRetriesExceeded'
      if (!isRetriable || failures > retryPolicy.retries) throw error
      await sleep(backoffMs(failures))
    }
  }
}

/** A record that arrived compressed may exceed the broker's limit uncompressed; compressed, it fits again. */
function compressionOf(request: OutgoingRecord[]): number {
  const { None, ZSTD } = kafkajs.CompressionTypes
  return request.some(record => sizeOf(record) > requestBytes) ? ZSTD : None
}

/** Splits records, in their order, into requests that fit a broker's default limits. */
function requestsOf(records: OutgoingRecord[]): OutgoingRecord[][] {
  const requests: OutgoingRecord[][] = []
  let current: OutgoingRecord[] = []
  let bytes = 0
  for (const record of records) {
    const size = sizeOf(record)
    if (current.length > 0 && (bytes + size > requestBytes || current.length >= requestRecords)) {
      requests.push(current)
      current = []
      bytes = 0
    }
    current.push(record)
    bytes += size
  }
  if (current.length > 0) requests.push(current)
  return requests
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  let size = lengthOf(key) + lengthOf(value) + recordOverheadBytes
  for (const name in headers) {
    const values = headers[name] ?? null
    for (const one of Array.isArray(values) ? values : [values]) size += name.length * 3 + lengthOf(one) + 6
  }
  return size
}

/** An upper bound. For a short text it is not measured: Node's call takes longer than everything else here. */
function lengthOf(bytes: Buffer | string | null): number {
  if (bytes === null) return 0
  return typeof bytes === 'string' && bytes.length < 100 ? bytes.length * 3 : Buffer.byteLength(bytes)
}

/** The earliest of the accepted timestamps; undefined if a record has none. */
function acceptedTime(records: OutgoingRecord[]): number | undefined {
  const times = records.map(({ acceptedMs }) => acceptedMs)
  return times.reduce((one, other) => one && other && Math.min(one, other))
}

function byTopic(records: OutgoingRecord[], timeMs?: number): { topic: string; messages: Message[] }[] {
  const timestamp = String(timeMs)
  return [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, group]) => ({
    topic,
    messages: (timeMs === undefined ? group : group.map(one => ({ ...one, timestamp }))) as Message[],
  }))
}

const murmur2: (key: Buffer) => number = createRequire(import.meta.url)(
  'kafkajs/src/producer/partitioners/default/murmur2.js',
)

/** The partition that Kafka's partitioner chooses for a key (docs/records.md, Topics): murmur2, as in Java. */
export function partitionOf(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions
}
