import { createTopics, type KafkaConnection, kafkajs, openProducer, topicNames } from '@tally/kafka'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { randomFrom } from '@tally/testkit/random'
import { type BadValue, badValue } from './bad.ts'
import { type Count, openCount } from './count.ts'
import { partitionsOf, type Shape } from './shape.ts'
import { streamOf } from './stream.ts'

/** Records that are sorted by partition before they are sent, so that Kafka gets batches of hundreds, not of tens. */
const atOnce = 12_000

/** Records in topics of their own, and the count that answers about them are compared with. */
export type DataSet = { topicPrefix: string; partitions: number; count: Count }

/** A data set that was made from a shape. */
export type Preloaded = DataSet & {
  shape: Shape
  /** Good records by topic type. */
  records: Record<TestRecord['type'], number>
  /** All good records. */
  total: number
  /** Bad records, all of them in the orders topic. */
  bad: number
}

/** A record as it is sent. */
type Outgoing = { type: TestRecord['type']; key: string; value: BadValue }

/** Puts the data set of a shape into new topics, and counts it meanwhile. */
export async function preload(kafka: KafkaConnection, topicPrefix: string, shape: Shape): Promise<Preloaded> {
  const partitions = partitionsOf(shape)
  const count = openCount()
  const records = { organizations: 0, events: 0, orders: 0, refunds: 0 }
  const random = randomFrom(shape.seed, 'bad')
  function* counted(): Generator<Outgoing> {
    for (const record of streamOf(shape)) {
      const { type, value } = record
      count.add(record)
      records[type] += 1
      yield outgoingOf(record)
      if (shape.hasBad && type === 'orders') yield { ...outgoingOf(record), value: badValue(value, random) }
    }
  }
  await sendAll(kafka, { topicPrefix, partitions }, counted())
  const total = Object.values(records).reduce((sum, number) => sum + number, 0)
  return { topicPrefix, partitions, shape, records, total, bad: shape.hasBad ? records.orders : 0, count }
}

/** The record with its key, as tills send it. */
function outgoingOf({ type, value }: TestRecord): Outgoing {
  const key = type === 'organizations' ? value.organizationId : value.eventId
  return { type, key, value: JSON.stringify(value) }
}

/** Puts records into new topics: uncompressed, in usual batches, on the partitions that the Java client chooses. */
async function sendAll(
  kafka: KafkaConnection,
  { topicPrefix, partitions }: Pick<DataSet, 'topicPrefix' | 'partitions'>,
  records: Iterable<Outgoing>,
): Promise<void> {
  await createTopics(kafka, { topicPrefix, partitions, replicationFactor: 1 })
  const producer = await openProducer(kafka)
  const names = topicNames(topicPrefix)
  const placeOf = createPlaces(partitions)
  let waiting: (Outgoing & { place: number })[] = []
  const send = async () => {
    const sorted = waiting.sort((one, other) => one.place - other.place)
    waiting = []
    await producer.send(sorted.map(({ type, key, value }) => ({ topic: names[type], key, value })))
  }
  for (const record of records) {
    waiting.push({ ...record, place: placeOf(record.type, record.key) })
    if (waiting.length >= atOnce) await send()
  }
  await send()
  await producer.close()
}

/** Numbers by which records sort by topic and partition; those of one partition keep their order (a stable sort). */
function createPlaces(partitions: number): (type: TestRecord['type'], key: string) => number {
  const types = ['organizations', 'events', 'orders', 'refunds']
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    leader: 1,
  }))
  const partitioner = kafkajs.Partitioners.DefaultPartitioner()
  const known = new Map<string, number>()
  return (type, key) => {
    let partition = known.get(key)
    if (partition === undefined) {
      const message = { key, value: null }
      partition = partitioner({ topic: '', partitionMetadata: partitionMetadata as never, message })
      known.set(key, partition)
    }
    return types.indexOf(type) * partitions + partition
  }
}
