import { inside, type KafkaConnection } from '../client/connection.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import { type OpenTransaction, openTransactions } from './openTransactions.ts'

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
