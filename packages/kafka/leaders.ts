import type { Broker, Cluster, SharedCluster } from './cluster.ts'

export type TopicPartition = { topic: string; partition: number }

export const byKey = ({ topic, partition }: TopicPartition): string => `${topic}:${partition}`

/**
 * Asks the leader of each of these partitions. Leaves out partitions that do not exist, and those of a broker that does
 * not answer while another one does. Throws if no broker answers.
 */
export async function askLeaders(
  shared: SharedCluster,
  partitions: TopicPartition[],
  ask: (broker: Broker, mine: TopicPartition[], nodeId: string) => Promise<void>,
): Promise<void> {
  if (partitions.length === 0) return
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  await shared.use(topics, async cluster => {
    const leaders = await leadersOf(cluster, partitions)
    const asked = await Promise.allSettled(
      [...leaders].map(async ([nodeId, mine]) => ask(await cluster.findBroker({ nodeId }), mine, nodeId)),
    )
    const failed = asked.filter(({ status }) => status === 'rejected')
    if (failed.length === 0) return
    if (failed.length === asked.length) throw (failed[0] as PromiseRejectedResult).reason
    await cluster.refreshMetadata()
  })
}

async function leadersOf(
  cluster: Cluster,
  partitions: TopicPartition[],
): Promise<Map<string, TopicPartition[]>> {
  const found = groupByLeader(cluster, partitions)
  if ([...found.values()].flat().length === partitions.length) return found
  // Partitions may have been added since the metadata was read.
  await cluster.refreshMetadata()
  return groupByLeader(cluster, partitions)
}

function groupByLeader(cluster: Cluster, partitions: TopicPartition[]): Map<string, TopicPartition[]> {
  const leaders = new Map<string, TopicPartition[]>()
  for (const of of partitions) {
    for (const nodeId of Object.keys(cluster.findLeaderForPartitions(of.topic, [of.partition]))) {
      const mine = leaders.get(nodeId) ?? []
      mine.push(of)
      leaders.set(nodeId, mine)
    }
  }
  return leaders
}
