import { type Cluster, READ_UNCOMMITTED } from './cluster.ts'
import { type KafkaConnection, inside } from './connection.ts'
import type { PartitionOffsets } from './types.ts'

type TopicPartition = { topic: string; partition: number }

/** Kafka's two special timestamps of ListOffsets. */
const LATEST = '-1'
const EARLIEST = '-2'

/**
 * Where the log of each of these partitions begins and ends. `end` is the high watermark: every record that Kafka has
 * acknowledged lies below it, including records of open transactions. Sends two small requests to each broker that leads
 * one of the partitions. A partition that does not exist is not in the result. Throws kafkajs's error if Kafka does not
 * answer or a topic is missing.
 */
export async function logEnds(
  connection: KafkaConnection,
  partitions: TopicPartition[],
): Promise<Map<string, PartitionOffsets>> {
  const byTopic = Map.groupBy(partitions, ({ topic }) => topic)
  const ends = new Map([...byTopic.keys()].map(topic => [topic, new Map() as PartitionOffsets]))
  if (byTopic.size === 0) return ends
  await inside(connection).cluster.use([...byTopic.keys()], async cluster => {
    const leaders = await leadersOf(cluster, byTopic)
    await Promise.all([...leaders].map(([nodeId, topics]) => askLeader(cluster, { nodeId, topics, ends })))
  })
  return ends
}

type Leaders = Map<string, Map<string, number[]>>

async function leadersOf(cluster: Cluster, byTopic: Map<string, TopicPartition[]>): Promise<Leaders> {
  const found = groupByLeader(cluster, byTopic)
  const count = [...found.values()].flatMap(topics => [...topics.values()].flat()).length
  const wanted = [...byTopic.values()].flat().length
  if (count === wanted) return found
  // Partitions may have been added since the metadata was read.
  await cluster.refreshMetadata()
  return groupByLeader(cluster, byTopic)
}

function groupByLeader(cluster: Cluster, byTopic: Map<string, TopicPartition[]>): Leaders {
  const leaders: Leaders = new Map()
  for (const [topic, partitions] of byTopic) {
    const numbers = partitions.map(({ partition }) => partition)
    for (const [nodeId, led] of Object.entries(cluster.findLeaderForPartitions(topic, numbers)))
      leaders.set(nodeId, (leaders.get(nodeId) ?? new Map<string, number[]>()).set(topic, led))
  }
  return leaders
}

async function askLeader(
  cluster: Cluster,
  {
    nodeId,
    topics,
    ends,
  }: { nodeId: string; topics: Map<string, number[]>; ends: Map<string, PartitionOffsets> },
): Promise<void> {
  const broker = await cluster.findBroker({ nodeId })
  const ask = async (timestamp: string): Promise<Map<string, number>> => {
    const wanted = [...topics].map(([topic, partitions]) => ({
      topic,
      partitions: partitions.map(partition => ({ partition, timestamp })),
    }))
    const { responses } = await broker.listOffsets({ isolationLevel: READ_UNCOMMITTED, topics: wanted })
    return new Map(
      responses.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }): [string, number] => [
          `${topic}:${partition}`,
          Number(offset),
        ]),
      ),
    )
  }
  // The end is asked first: a log whose start has passed it must not look longer than it is.
  const [latest, earliest] = await Promise.all([ask(LATEST), ask(EARLIEST)])
  for (const [topic, partitions] of topics) {
    for (const partition of partitions) {
      const [start, end] = [earliest, latest].map(of => of.get(`${topic}:${partition}`))
      if (start !== undefined && end !== undefined)
        ends.get(topic)?.set(partition, { start: Math.min(start, end), end })
    }
  }
}
