import type { PartitionAssigner } from 'kafkajs'
import type { Cluster } from '../client/cluster.ts'
import { kafkajs } from '../client/kafkajs.ts'
import type { Assignment } from '../types.ts'
import { assignShards } from './assignShards.ts'
import { checkFetches, type FetchHooks } from './checkedFetches.ts'
import { type Claim, decodeClaim, encodeClaim } from './claim.ts'

/** The same name as in version 0.1.0, whose members claim nothing: old and new ones can be in one group. */
const assignerName = 'TallyShards'
const assignerVersion = 1

export type ConsumerHooks = {
  /**
   * Called by patches/offsetOutOfRange.ts with an offset that the log does not hold; returns true if it was handled.
   */
  outOfLog(of: { topic: string; partition: number; wanted: number }): boolean
  /** Absent if the consumer fetches by name. */
  fetches: FetchHooks | undefined
  /** What this member claims when it joins. */
  claim(): Claim | undefined
  /** Called by patches/joined.ts after each join. */
  joined(generation: number, assignment: Assignment): void
}

/**
 * A shardAssigner that carries the hooks, because it is the only object of the caller that kafkajs's ConsumerGroup
 * keeps and that gets the consumer's cluster.
 */
export function assignerWith({ outOfLog, fetches, claim, joined }: ConsumerHooks): PartitionAssigner {
  return given => {
    if (fetches !== undefined) checkFetches(given.cluster as unknown as Cluster, fetches)
    return Object.assign(shardAssigner(claim)(given), { outOfLog, joined })
  }
}

/**
 * assignShards as kafkajs's assigner, which runs on the member that leads the group. Each member sends what it claims
 * as user data when it joins.
 */
const shardAssigner =
  (claim: () => Claim | undefined): PartitionAssigner =>
  ({ cluster }) => {
    const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol
    return {
      name: assignerName,
      version: assignerVersion,
      async assign({ members, topics }) {
        const counts = new Map(topics.map(topic => [topic, cluster.findTopicPartitionMetadata(topic).length]))
        const claiming = members.map(({ memberId, memberMetadata }) => ({
          id: memberId,
          claim: decodeClaim(MemberMetadata.decode(memberMetadata)?.userData ?? null),
        }))
        return [...assignShards(claiming, counts)].map(([memberId, assignment]) => ({
          memberId,
          memberAssignment: MemberAssignment.encode({
            version: assignerVersion,
            assignment: Object.fromEntries(assignment),
            userData: Buffer.alloc(0),
          }),
        }))
      },
      protocol: ({ topics }) => ({
        name: assignerName,
        metadata: MemberMetadata.encode({ version: assignerVersion, topics, userData: encodeClaim(claim()) }),
      }),
    }
  }
