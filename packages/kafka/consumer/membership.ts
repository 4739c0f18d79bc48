import { setTimeout as sleep } from 'node:timers/promises'
import { openInterval } from '@tally/platform'
import { settled } from '../client/backoff.ts'
import type { Broker, Cluster, JoinedGroup } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'
import { isCoordinatorLost, isUnknownMember, meansRejoin } from '../errors.ts'
import { type Assignment, partitionKey, type TopicPartition, type Tuning } from '../types.ts'
import { assignShards, type Claim, decodeClaim, encodeClaim } from './assignShards.ts'

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol

/** The same name as in version 0.1.0, whose members claim nothing: old and new ones can be in one group. */
const protocolName = 'TallyShards'
const protocolVersion = 1

/**
 * How long to wait until Kafka names another coordinator: by default, it gives up a broker after 9 s, and a member of a
 * group after 10 s more. After that, the consumer starts again.
 */
export const lookMs = 30_000
export const lookAgainMs = 250

type MembershipDeps = {
  cluster: Cluster
  groupId: string
  topics: string[]
  tuning: Tuning
  /** What this member claims when it joins. */
  claim(): Claim | undefined
  /** How many partitions each topic has now. */
  counts(): Promise<Map<string, number>>
}

/** The result of a join; `counts`: the partition counts from which this member, as leader, made the assignment. */
export type Joined = { generation: number; assignment: Assignment; counts: Map<string, number> | undefined }

/** Next offsets, as Kafka's group keeps them for lag tools. */
type Offsets = { topic: string; partitions: { partition: number; offset: string }[] }[]

/**
 * This process as a member of its consumer group, by kafkajs's requests. Its methods throw kafkajs's error.
 *
 * A heartbeat that fails because the coordinator is lost goes to the group's new one, which knows the member, as with
 * the Java client: a member that joins as a new one waits until the group gives up the old one (10 s).
 */
export class Membership {
  readonly #deps: MembershipDeps
  #coordinator: Broker | undefined
  #memberId = ''
  #generation = -1
  #failingSinceMs: number | undefined

  constructor(deps: MembershipDeps) {
    this.#deps = deps
  }

  /** Joins the group, however often other members join or leave meanwhile. Resolves with the assigned partitions. */
  async join(signal: AbortSignal): Promise<Joined> {
    this.#failingSinceMs = undefined
    for (;;) {
      try {
        signal.throwIfAborted()
        return await this.#joinOnce()
      } catch (error) {
        if (isUnknownMember(error)) this.#memberId = ''
        else if (isCoordinatorLost(error)) await this.#lookAgain(error)
        else if (!meansRejoin(error)) throw error
      }
    }
  }

  /** Waits before the next request to the coordinator; throws the error if it has been lost for too long. */
  async #lookAgain(error: unknown): Promise<void> {
    this.#failingSinceMs ??= performance.now()
    if (performance.now() - this.#failingSinceMs > lookMs) throw error
    await sleep(lookAgainMs, undefined, { ref: false })
  }

  async #joinOnce(): Promise<Joined> {
    const { cluster, groupId, topics, tuning, claim } = this.#deps
    const userData = encodeClaim(claim())
    const metadata = MemberMetadata.encode({ version: protocolVersion, topics, userData })
    this.#coordinator = await cluster.findGroupCoordinator({ groupId })
    const joined = await this.#coordinator.joinGroup({
      groupId,
      sessionTimeout: tuning.sessionTimeoutMs,
      rebalanceTimeout: tuning.rebalanceTimeoutMs,
      memberId: this.#memberId,
      groupProtocols: [{ name: protocolName, metadata }],
    })
    this.#failingSinceMs = undefined
    this.#memberId = joined.memberId
    this.#generation = joined.generationId
    const counts = joined.leaderId === joined.memberId ? await this.#deps.counts() : undefined
    const { memberAssignment } = await this.#coordinator.syncGroup({
      groupId,
      generationId: joined.generationId,
      memberId: joined.memberId,
      groupAssignment: counts === undefined ? [] : assign(joined.members, counts),
    })
    const assigned = MemberAssignment.decode(memberAssignment)?.assignment ?? {}
    const entries = Object.entries(assigned).filter(([topic]) => topics.includes(topic))
    return {
      generation: joined.generationId,
      assignment: new Map(entries.map(([topic, list]) => [topic, list.toSorted((a, b) => a - b)])),
      counts,
    }
  }

  /** Sends a heartbeat. An error for which `meansRejoin` holds means: join again. */
  async heartbeat(): Promise<void> {
    const { cluster, groupId } = this.#deps
    const generation = this.#generation
    try {
      await this.#coordinator?.heartbeat({ groupId, memberId: this.#memberId, groupGenerationId: generation })
      this.#failingSinceMs = undefined
    } catch (error) {
      // It has joined again meanwhile.
      if (generation !== this.#generation) return
      if (isUnknownMember(error)) this.#memberId = ''
      if (!isCoordinatorLost(error)) throw error
      await this.#lookAgain(error)
      const found = await cluster.findGroupCoordinator({ groupId }).catch(() => undefined)
      if (found !== undefined && generation === this.#generation) this.#coordinator = found
    }
  }

  async commit(topics: Offsets): Promise<void> {
    const of = { groupId: this.#deps.groupId, memberId: this.#memberId, groupGenerationId: this.#generation }
    await this.#coordinator?.offsetCommit({ ...of, topics })
  }

  async leave(): Promise<void> {
    if (this.#memberId === '') return
    await this.#coordinator?.leaveGroup({ groupId: this.#deps.groupId, memberId: this.#memberId })
    this.#memberId = ''
  }
}

/** What each member gets, as the group's leader says it. */
function assign(members: JoinedGroup['members'], counts: Map<string, number>) {
  const claiming = members.map(({ memberId, memberMetadata }) => ({
    id: memberId,
    claim: decodeClaim(MemberMetadata.decode(memberMetadata)?.userData ?? null),
  }))
  return [...assignShards(claiming, counts)].map(([memberId, assignment]) => ({
    memberId,
    memberAssignment: MemberAssignment.encode({
      version: protocolVersion,
      assignment: Object.fromEntries(assignment),
      userData: Buffer.alloc(0),
    }),
  }))
}

const commitEveryMs = 1_000
const lastCommitMs = 1_000

export type Commits = { add(of: TopicPartition, next: number): void; close(): Promise<void> }

/**
 * Commits each partition's next offset to Kafka at most once a second, and when closed, so that lag tools see it. The
 * offsets that count are in Postgres, so a commit that fails is dropped: the next one replaces it.
 */
export function commitLater(membership: Membership): Commits {
  const pending = new Map<string, Offsets[number]>()
  const flush = async (): Promise<void> => {
    const offsets = [...pending.values()]
    pending.clear()
    if (offsets.length > 0) await membership.commit(offsets).catch(() => undefined)
  }
  const flushes = openInterval(commitEveryMs, flush, () => {})
  return {
    add({ topic, partition }, next) {
      pending.set(partitionKey({ topic, partition }), {
        topic,
        partitions: [{ partition, offset: String(next) }],
      })
    },
    async close() {
      await settled(flushes.stop().then(flushes.run), lastCommitMs)
    },
  }
}
