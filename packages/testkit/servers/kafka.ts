import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import {
  type Assignment,
  type ConsumeOptions,
  type Consumer,
  connectKafka,
  consumeBatches,
  createTimeoutMs,
  endOffsets,
  inside,
  type KafkaConnection,
  type KafkaRecord,
  type OutgoingRecord,
  openProducer,
  type Producer,
  type RecordBatch,
  type StartOffsets,
} from '@tally/kafka'
import { createLogger } from '@tally/platform'
import type { Transaction } from 'kafkajs'
import { inject, onTestFinished } from 'vitest'
import { until } from '../until.ts'

/** A connection to brokers, with commas between them. */
export const connectTo = (brokers: string): KafkaConnection =>
  connectKafka(
    { brokers: brokers.split(','), ssl: false },
    { clientId: 'test', logger: createLogger('test', 'silent') },
  )

/** A connection, by default to the run's brokers, that is closed with the test. */
export function connectForTest(brokers = inject('servers').kafkaBrokers): KafkaConnection {
  const connection = connectTo(brokers)
  onTestFinished(() => connection.close())
  return connection
}

type Connection = { processData(bytes: Buffer): unknown }
const kafkajsConnection: Connection = createRequire(import.meta.url)(
  'kafkajs/src/network/connection.js',
).prototype

/** Gives `change` the bytes of each answer before kafkajs gets them, until the test ends or the result is called. */
export function onAnswers(change: (bytes: Buffer) => void): () => void {
  const { processData } = kafkajsConnection
  const end = () => void Object.assign(kafkajsConnection, { processData })
  Object.assign(kafkajsConnection, {
    processData(this: Connection, bytes: Buffer) {
      change(bytes)
      return processData.call(this, bytes)
    },
  })
  onTestFinished(end)
  return end
}

/** Lets kafkajs find no leader of this partition of any topic until the test ends. */
export function loseLeader(lost: number): void {
  const cluster = createRequire(import.meta.url)('kafkajs/src/cluster/index.js').prototype
  const { findLeaderForPartitions } = cluster
  onTestFinished(() => void Object.assign(cluster, { findLeaderForPartitions }))
  Object.assign(cluster, {
    findLeaderForPartitions(topic: string, partitions: number[]) {
      if (partitions.includes(lost)) return { '-1': partitions }
      return findLeaderForPartitions.call(this, topic, partitions)
    },
  })
}

/** A topic of its own for a test. */
export async function newTopic(
  connection: KafkaConnection,
  { partitions = 1, config = {} }: { partitions?: number; config?: Record<string, string> } = {},
): Promise<string> {
  const topic = `test-${randomUUID()}`
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  const wanted = [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }]
  await inside(connection).admin.use(admin =>
    admin.createTopics({ topics: wanted, timeout: createTimeoutMs }),
  )
  return topic
}

/** A topic of its own for a test, with these values in partition 0, and a connection. */
export async function logOf(values: string[] = [], options: Parameters<typeof newTopic>[1] = {}) {
  const connection = connectForTest()
  const topic = await newTopic(connection, options)
  if (values.length > 0) await sendAll(connection, texts(topic, values))
  return { connection, topic }
}

/** Deletes the records before an offset, as retention would. */
export async function deleteBefore(
  connection: KafkaConnection,
  { topic, partition, offset }: { topic: string; partition: number; offset: number },
): Promise<void> {
  await inside(connection).admin.use(async admin => {
    // kafkajs deletes records only of topics whose metadata it has loaded.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
  })
}

export async function producerForTest(connection: KafkaConnection): Promise<Producer> {
  const producer = await openProducer(connection)
  onTestFinished(() => producer.close())
  return producer
}

export async function sendAll(connection: KafkaConnection, records: OutgoingRecord[]): Promise<void> {
  const producer = await openProducer(connection)
  await producer.send(records)
  await producer.close()
}

export type Reading = { consumer: Consumer; batches: RecordBatch[]; records: KafkaRecord[]; crashes: Error[] }

/** Where `onAssigned` says nothing, reading begins after what was read, or else where the group stands. */
type ReadOptions = Omit<Partial<ConsumeOptions>, 'onAssigned'> & {
  topics: string[]
  // biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
  onAssigned?(assignment: Assignment): StartOffsets | void | Promise<StartOffsets | undefined>
}

/** Reads topics and collects the batches. If the given `onBatch` throws, its batch is not collected. */
export async function readForTest(connection: KafkaConnection, options: ReadOptions): Promise<Reading> {
  const reading = { batches: [], records: [], crashes: [] } as Omit<Reading, 'consumer'>
  const groupId = `group-${randomUUID()}`
  const consumer = await consumeBatches(connection, {
    groupId,
    onOutOfLog: () => {},
    onCrash: error => void reading.crashes.push(error),
    ...options,
    async onAssigned(assignment) {
      const given = (await options.onAssigned?.(assignment)) ?? new Map()
      const starts = await committedOffsets(connection, options.groupId ?? groupId, assignment)
      for (const [topic, offsets] of starts) {
        const mine = reading.batches.filter(batch => batch.topic === topic)
        const read = new Map(mine.map(({ partition, next }) => [partition, next]))
        starts.set(topic, new Map([...offsets, ...read, ...(given.get(topic) ?? [])]))
      }
      return starts
    },
    async onBatch(batch, control) {
      const next = (await options.onBatch?.(batch, control)) ?? batch.next
      reading.batches.push(batch)
      reading.records.push(...batch.records)
      return next
    },
  })
  onTestFinished(() => consumer.stop())
  return { ...reading, consumer }
}

/** Where the group stands, or the start of the log. */
async function committedOffsets(
  connection: KafkaConnection,
  groupId: string,
  assignment: Assignment,
): Promise<StartOffsets> {
  const topics = [...assignment.keys()]
  const committed = await inside(connection).admin.use(admin => admin.fetchOffsets({ groupId, topics }))
  const logs = await endOffsets(connection, topics)
  const startOf = (topic: string, partition: number): number => {
    const of = committed.find(one => one.topic === topic)?.partitions.find(one => one.partition === partition)
    const offset = Number(of?.offset ?? -1)
    return offset < 0 ? (logs.get(topic)?.get(partition)?.start ?? 0) : offset
  }
  return new Map(
    [...assignment].map(([topic, partitions]) => [
      topic,
      new Map(partitions.map(partition => [partition, startOf(topic, partition)])),
    ]),
  )
}

/** Waits until readers see partition 0 up to `end`: the record that ends a transaction is written after its commit. */
export function untilVisible(connection: KafkaConnection, topic: string, end: number): Promise<void> {
  return until(`the log is visible up to ${end}`, async () => {
    const ends = await endOffsets(connection, [topic])
    return ends.get(topic)?.get(0)?.end === end
  })
}

/** A transaction of a producer of its own. */
export async function beginTransaction(connection: KafkaConnection): Promise<Transaction> {
  const producer = inside(connection).kafka.producer({
    transactionalId: randomUUID(),
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  return producer.transaction()
}

/** Records without a key, for one partition. */
export const texts = (topic: string, values: string[], partition = 0): OutgoingRecord[] =>
  values.map(value => ({ topic, key: null, value, partition }))

/** To read partition 0 of a topic from an offset on. */
export const startAt = (topic: string, offset: number): StartOffsets =>
  new Map([[topic, new Map([[0, offset]])]])

export const textOf = (record: { value: Buffer | null }): string => String(record.value)
