import { type Broker, type Cluster, inside, type KafkaConnection } from '../client/connection.ts'
import { type Decoder, Encoder, skipTaggedFields } from '../client/flexible.ts'
import { askFlexible, askLeaders } from '../client/requests.ts'
import type { TopicPartition } from '../types.ts'

/** A transaction that has been open for long enough to hold back figures, with sentences for people. */
export type HeldBack = OpenTransaction & {
  quietMs: number
  found: string
  /** The command that ends it, with Kafka's own tool. */
  command: string
}

/** Figures are at most 2 s old while transactions end as usual (docs/api.md, asOf). */
const quietLimitMs = 5_000

/** Transactions that hold back these partitions: open, 5 s without a write. Throws kafkajs's error if Kafka is down. */
export async function heldBack(
  connection: KafkaConnection,
  partitions: TopicPartition[],
): Promise<HeldBack[]> {
  const nowMs = Date.now()
  const open = await openTransactions(connection, partitions)
  return open.flatMap(one => {
    const quietMs = nowMs - one.lastWriteMs
    if (quietMs < quietLimitMs) return []
    const { topic, partition, startOffset, producerId, transactionalId } = one
    const producer =
      transactionalId === undefined
        ? `producer ${producerId}`
        : `producer ${producerId} (transactional.id ${transactionalId})`
    return {
      ...one,
      quietMs,
      found: `${topic}-${partition} stands at offset ${startOffset}: ${producer} holds a transaction open, and wrote last ${Math.round(quietMs / 1_000)} s ago`,
      command: `kafka-transactions.sh --bootstrap-server ${inside(connection).brokers.join(',')} abort --topic ${topic} --partition ${partition} --start-offset ${startOffset}`,
    }
  })
}

/** A transaction that holds back what follows it in a partition until it ends. */
type OpenTransaction = TopicPartition & {
  /** The first offset of the transaction: readers stop before it. */
  startOffset: number
  producerId: string
  /** Undefined if this client may not know it, or Kafka has forgotten the transaction: then it never ends by itself. */
  transactionalId: string | undefined
  /** When the producer last wrote to the partition, by its clock. */
  lastWriteMs: number
}

const describeProducers0 = { apiKey: 61, apiVersion: 0, apiName: 'DescribeProducers' }

/**
 * The open transactions of these partitions, the ones that begin first come first. Throws kafkajs's error if Kafka does
 * not answer.
 */
async function openTransactions(
  connection: KafkaConnection,
  partitions: TopicPartition[],
): Promise<OpenTransaction[]> {
  const { cluster } = inside(connection)
  const found: Omit<OpenTransaction, 'transactionalId'>[] = []
  await askLeaders(cluster, partitions, async (broker, mine) => {
    found.push(...(await describeProducers(broker, mine)))
  })
  if (found.length === 0) return []
  const names = await cluster.use([], (of: Cluster) => namesOf(of)).catch(() => new Map<string, string>())
  return found
    .map(one => ({ ...one, transactionalId: names.get(one.producerId) }))
    .toSorted((one, other) => one.startOffset - other.startOffset)
}

/**
 * Asks a leader for the producers of its partitions (DescribeProducers version 0, which kafkajs 2.2.4 lacks). The
 * message: DescribeProducersRequest.json and DescribeProducersResponse.json in apache/kafka,
 * clients/src/main/resources/common/message.
 */
async function describeProducers(
  broker: Broker,
  partitions: TopicPartition[],
): Promise<Omit<OpenTransaction, 'transactionalId'>[]> {
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)].map(([topic, of]) =>
    new Encoder()
      .writeUVarIntString(topic)
      .writeUVarIntArray(of.map(({ partition }) => new Encoder().writeInt32(partition)))
      .writeUVarInt(0),
  )
  const body = (to: Encoder) => to.writeUVarIntArray(topics).writeUVarInt(0)
  return askFlexible(broker, describeProducers0, body, decodeProducers)
}

function decodeProducers(from: Decoder): Omit<OpenTransaction, 'transactionalId'>[] {
  const found: Omit<OpenTransaction, 'transactionalId'>[] = []
  from.readInt32() // throttle_time_ms
  from.readUVarIntArray(() => {
    const topic = from.readUVarIntString() ?? ''
    from.readUVarIntArray(() => {
      const partition = from.readInt32()
      from.readInt16() // error_code: a partition that may not be described has no producers to show
      from.readUVarIntString() // error_message
      from.readUVarIntArray(() => {
        const producerId = String(from.readInt64())
        from.readInt32() // producer_epoch
        from.readInt32() // last_sequence
        const lastWriteMs = Number(from.readInt64())
        from.readInt32() // coordinator_epoch
        const startOffset = Number(from.readInt64())
        skipTaggedFields(from)
        // -1: the producer has no transaction open.
        if (startOffset >= 0) found.push({ topic, partition, producerId, lastWriteMs, startOffset })
      })
      skipTaggedFields(from)
    })
    skipTaggedFields(from)
  })
  return found
}

const listTransactions0 = { apiKey: 66, apiVersion: 0, apiName: 'ListTransactions' }

/**
 * The transactional ids of producers, by producer id, as far as this client may know them: each broker lists those that
 * it coordinates (ListTransactions version 0, which kafkajs 2.2.4 lacks). The message: ListTransactionsRequest.json and
 * ListTransactionsResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
async function namesOf(cluster: Cluster): Promise<Map<string, string>> {
  const lists = await Promise.all(
    Object.keys(cluster.brokerPool.brokers).map(async nodeId => {
      const broker = await cluster.findBroker({ nodeId })
      // No filter of states and none of producers.
      const body = (to: Encoder) => to.writeUVarIntArray([]).writeUVarIntArray([]).writeUVarInt(0)
      return askFlexible(broker, listTransactions0, body, decodeTransactions)
    }),
  )
  return new Map(lists.flat())
}

function decodeTransactions(from: Decoder): [producerId: string, transactionalId: string][] {
  from.readInt32() // throttle_time_ms
  from.readInt16() // error_code
  from.readUVarIntArray(() => from.readUVarIntString()) // unknown_state_filters
  const all = from.readUVarIntArray((): [string, string] => {
    const transactionalId = from.readUVarIntString() ?? ''
    const producerId = String(from.readInt64())
    from.readUVarIntString() // transaction_state
    skipTaggedFields(from)
    return [producerId, transactionalId]
  })
  return all ?? []
}
