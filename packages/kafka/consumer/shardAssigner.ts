import type { PartitionAssigner } from 'kafkajs'
import type { Cluster } from '../client/cluster.ts'
import { kafkajs } from '../client/kafkajs.ts'
import type { Assignment } from '../types.ts'
import { checkFetches, type FetchHooks } from './checkedFetches.ts'

const assignerName = 'TallyShards'
const assignerVersion = 1

/**
 * Spreads partitions over the members of the group. The topics with the most partitions are the co-partitioned ones:
 * partition p of each of them, a shard, goes to the same member, so that one projector sees an event with its orders
 * and refunds. Partitions of smaller topics (organizations) go, one by one, to the member that has the fewest. Every
 * member gets an assignment, possibly an empty one.
 */
export function assignShards(
  memberIds: string[],
  partitionCounts: Map<string, number>,
): Map<string, Assignment> {
  const members = [...memberIds].sort().map(id => ({ id, assignment: new Map() as Assignment, size: 0 }))
  const give = (member: (typeof members)[number] | undefined, topic: string, partition: number): void => {
    if (!member) return
    const partitions = member.assignment.get(topic) ?? []
    member.assignment.set(topic, [...partitions, partition])
    member.size++
  }
  const shards = Math.max(0, ...partitionCounts.values())
  const topics = [...partitionCounts].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [topic, count] of topics.filter(([, count]) => count === shards)) {
    for (let shard = 0; shard < count; shard++) give(members[shard % members.length], topic, shard)
  }
  for (const [topic, count] of topics.filter(([, count]) => count < shards)) {
    for (let partition = 0; partition < count; partition++) {
      give(members.toSorted((a, b) => a.size - b.size)[0], topic, partition)
    }
  }
  return new Map(members.map(({ id, assignment }) => [id, assignment]))
}

export type ConsumerHooks = {
  /**
   * Called by patches/offsetOutOfRange.ts with an offset that the log does not hold; returns true if it was handled.
   */
  outOfLog(of: { topic: string; partition: number; wanted: number }): boolean
  /** Absent if the consumer fetches by name. */
  fetches: FetchHooks | undefined
}

/**
 * A shardAssigner that carries the hooks, because it is the only object of the caller that kafkajs's ConsumerGroup
 * keeps and that gets the consumer's cluster.
 */
export function assignerWith({ outOfLog, fetches }: ConsumerHooks): PartitionAssigner {
  return given => {
    if (fetches !== undefined) checkFetches(given.cluster as unknown as Cluster, fetches)
    return Object.assign(shardAssigner(given), { outOfLog })
  }
}

/** assignShards as kafkajs's assigner, which runs on the member that leads the group. */
const shardAssigner: PartitionAssigner = ({ cluster }) => {
  const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol
  const userData = Buffer.alloc(0)
  return {
    name: assignerName,
    version: assignerVersion,
    async assign({ members, topics }) {
      const counts = new Map(topics.map(topic => [topic, cluster.findTopicPartitionMetadata(topic).length]))
      const assigned = assignShards(
        members.map(({ memberId }) => memberId),
        counts,
      )
      return [...assigned].map(([memberId, assignment]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({
          version: assignerVersion,
          assignment: Object.fromEntries(assignment),
          userData,
        }),
      }))
    },
    protocol: ({ topics }) => ({
      name: assignerName,
      metadata: MemberMetadata.encode({ version: assignerVersion, topics, userData }),
    }),
  }
}
