import { type Broker, inside, type KafkaConnection, readUncommitted } from '../client/connection.ts'
import { askLeaders } from '../client/requests.ts'
import { askTopicMetadata } from '../topics/topicMetadata.ts'
import {
  type LogIdentity,
  type PartitionLogs,
  type PartitionOffsets,
  partitionKey,
  type RecordBatch,
  type TopicPartition,
} from '../types.ts'

/** Kafka's two special timestamps of ListOffsets. */
const latestTimestamp = '-1'
const earliestTimestamp = '-2'

/**
 * Start, end and identity of the log of each of these partitions. `end` is the high watermark: every record that Kafka
 * has acknowledged lies below it, including records of open transactions. Sends three small requests to each broker
 * that leads one of the partitions. A partition that does not exist or has no leader is not in the result. Throws
 * kafkajs's error if Kafka does not answer or a topic is missing.
 */
export async function logEnds(
  connection: KafkaConnection,
  partitions: TopicPartition[],
): Promise<Map<string, PartitionLogs>> {
  const logs = new Map(
    [...new Set(partitions.map(({ topic }) => topic))].map(topic => [topic, new Map() as PartitionLogs]),
  )
  await askLeaders(inside(connection).cluster, partitions, async (broker, mine, nodeId) => {
    const [latest, earliest] = await Promise.all([
      listOffsets(broker, mine, latestTimestamp),
      listOffsets(broker, mine, earliestTimestamp),
    ])
    // After the ends, so that the ends belong to the log named here: a leader knows a topic's id before it has its log.
    const ids = await identities(broker, nodeId, mine)
    for (const place of mine) {
      const [start, end] = [earliest, latest].map(offsets => offsets.get(partitionKey(place)))
      const identity = ids.get(partitionKey(place))
      if (start === undefined || end === undefined || identity === undefined) continue
      logs.get(place.topic)?.set(place.partition, { start: Math.min(start, end), end, ...identity })
    }
  })
  return logs
}

async function listOffsets(
  broker: Broker,
  partitions: TopicPartition[],
  timestamp: string,
): Promise<Map<string, number>> {
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)].map(([topic, of]) => ({
    topic,
    partitions: of.map(({ partition }) => ({ partition, timestamp })),
  }))
  const { responses } = await broker.listOffsets({ isolationLevel: readUncommitted, topics })
  return new Map(
    responses.flatMap(({ topic, partitions }) =>
      partitions.map(
        ({ partition, offset }) => [partitionKey({ topic, partition }), Number(offset)] as const,
      ),
    ),
  )
}

/** The current logs of these partitions according to their leader. A partition that does not exist has none. */
async function identities(
  broker: Broker,
  nodeId: string,
  partitions: TopicPartition[],
): Promise<Map<string, LogIdentity>> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const found = await askTopicMetadata(broker, topics)
  const states = found.flatMap(({ topic, topicId, partitions }) =>
    partitions.map(state => ({ ...state, topic, topicId })),
  )
  const wanted = new Set(partitions.map(partitionKey))
  const mine = states.filter(state => wanted.has(partitionKey(state)))
  const moved = mine.find(({ leader }) => String(leader) !== nodeId)
  if (moved) throw new LeaderMovedError(`the leader of ${moved.topic}-${moved.partition} has moved`)
  return new Map(
    mine.map(state => [partitionKey(state), { topicId: state.topicId, leaderEpoch: state.leaderEpoch }]),
  )
}

class LeaderMovedError extends Error {
  override readonly name = 'KafkaLeaderMovedError'
}

/**
 * Where the log of each partition begins and ends for a reader: `end` is at most the offset of the next visible record,
 * because records of open transactions lie after it. Sends two small requests per topic, over a connection that stays
 * open. Throws kafkajs's error if Kafka does not answer.
 */
export async function endOffsets(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, PartitionOffsets>> {
  return inside(connection).admin.use(async admin => {
    const all = await Promise.all(topics.map(topic => admin.fetchTopicOffsets(topic)))
    return new Map(
      topics.map((topic, i) => [
        topic,
        new Map(
          all[i]?.map(({ partition, low, high }) => [partition, { start: Number(low), end: Number(high) }]),
        ),
      ]),
    )
  })
}

/** The part of a batch below an offset. */
export function cutAt(end: number, batch: RecordBatch): RecordBatch {
  if (batch.next <= end) return batch
  return { ...batch, next: end, records: batch.records.filter(({ offset }) => offset < end) }
}

/** Where a log starts and ends after retention deleted records at `from`. Throws if it has that offset, or is gone. */
export async function logAfterDeletion(
  connection: KafkaConnection,
  { topic, partition }: TopicPartition,
  from: number,
): Promise<{ start: number; end: number }> {
  const log = (await endOffsets(connection, [topic])).get(topic)?.get(partition)
  if (log === undefined || log.start <= from)
    throw new Error(
      `${topic}-${partition} does not hold offset ${from}: was the topic created again meanwhile?`,
    )
  return log
}
