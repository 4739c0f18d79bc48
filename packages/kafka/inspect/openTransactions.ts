import type { Broker, Cluster } from '../client/cluster.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { type Decoder, Encoder, skipTaggedFields } from '../client/flexible.ts'
import { askLeaders } from '../client/leaders.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import { askFlexible, namesOf } from './transactionNames.ts'

/** A transaction that holds back what follows it in a partition until it ends. */
export type OpenTransaction = TopicPartition & {
  /** The first offset of the transaction: readers stop before it. */
  startOffset: number
  producerId: string
  /** Undefined if this client may not know it, or Kafka has forgotten the transaction: then it never ends by itself. */
  transactionalId: string | undefined
  /** When the producer last wrote to the partition, by its clock. */
  lastWriteMs: number
}

const describeProducersKey = 61

/**
 * The open transactions of these partitions, the ones that begin first come first. Empty if Kafka is older than 2.8.
 * Throws kafkajs's error if Kafka does not answer.
 */
export async function openTransactions(
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
  const request = { apiKey: describeProducersKey, apiName: 'DescribeProducers' }
  const answer = await askFlexible(broker, request, to => to.writeUVarIntArray(topics).writeUVarInt(0))
  return answer === undefined ? [] : decodeProducers(answer)
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
