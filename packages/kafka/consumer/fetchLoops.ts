import { setTimeout as sleep } from 'node:timers/promises'
import { isFatal } from '@tally/platform'
import { FetchedBatch } from '../batches/fetchedBatch.ts'
import type { Cluster } from '../client/connection.ts'
import { type Answered, errorOf, fetchFrom, offsetOutOfRange, type Wanted } from '../log/fetch.ts'
import { noLeader } from '../patches/metadata.ts'
import { type ConsumeOptions, partitionKey, type Tuning } from '../types.ts'
import type { Leaders } from './leaders.ts'
import { lookAgainMs, lookMs } from './membership.ts'
import {
  answered as hasAnswered,
  type Memory,
  mayFetch,
  type PartitionState,
  refusePartition,
} from './memory.ts'

/** How long a loop sleeps if none of its partitions may be fetched: the log of each has to be checked first. */
const idleMs = 50
/**
 * The next fetch waits until this long after a small answer. At a few hundred records a second it then brings those of
 * several partitions, not one record; a record that comes alone waits for nothing.
 */
const lingerMs = 5
const smallBytes = 64 * 1024
/**
 * The topic was deleted, or created again (UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID), or a new leader, whose log may be
 * shorter, has taken over (FENCED_LEADER_EPOCH).
 */
const otherLogCodes = new Set([100, 103, 74])
/**
 * The broker does not lead the partition (UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER,
 * REPLICA_NOT_AVAILABLE, KAFKA_STORAGE_ERROR) or does not know yet that it does (UNKNOWN_LEADER_EPOCH,
 * OFFSET_NOT_AVAILABLE).
 */
const transientCodes = new Set([3, 5, 6, 9, 56, 75, 78])

export type FetchDeps = {
  cluster: Cluster
  leaders: Leaders
  options: ConsumeOptions
  tuning: Tuning
  memory: Memory
  /** Takes a batch; resolves once it is begun or dropped, or its partition is busy for long. */
  hand(of: PartitionState, fetched: FetchedBatch): Promise<void>
  /** Ends the session. */
  end(error: Error): void
  closing: AbortSignal
}

/** One broker: when it last gave a small answer, and since when it has failed. */
type Node = { id: string; smallAtMs: number; failingSinceMs: number | undefined }
type FetchTarget = Wanted & { state: PartitionState }

/**
 * Fetches the assigned partitions from their leaders, each broker in a loop of its own: it hands over the batches of an
 * answer, waits until they are begun, and fetches again while they are processed. A partition whose batch waits long
 * for the one in progress is left out of the next fetches.
 */
export class FetchLoops {
  readonly #deps: FetchDeps
  readonly #running = new Map<string, Promise<void>>()

  constructor(deps: FetchDeps) {
    this.#deps = deps
  }

  /** Begins a loop for each broker that leads an assigned partition; a loop ends when its broker leads none. */
  begin(): void {
    const { memory, leaders } = this.#deps
    const ids = new Set<string>()
    for (const state of memory.partitions.values()) {
      state.leader = leaders.of(state)
      if (state.leader === noLeader)
        refusePartition(state, new Error(`${state.topic}-${state.partition} has no leader`))
      else if (state.leader !== undefined) ids.add(state.leader)
    }
    for (const id of ids) {
      if (this.#running.has(id)) continue
      const node: Node = { id, smallAtMs: -lingerMs, failingSinceMs: undefined }
      this.#running.set(
        id,
        this.#run(node).finally(() => this.#running.delete(id)),
      )
    }
  }

  /** Resolves when all loops have ended, after `closing`. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #run(node: Node): Promise<void> {
    const { memory, leaders, end, closing } = this.#deps
    const leads = (): boolean => [...memory.partitions.values()].some(({ leader }) => leader === node.id)
    while (!closing.aborted && leads()) {
      try {
        await this.#fetchOnce(node)
        node.failingSinceMs = undefined
      } catch (error) {
        node.failingSinceMs ??= performance.now()
        if (isFatal(error) || performance.now() - node.failingSinceMs > lookMs) return end(error as Error)
        leaders.expire()
        await sleep(lookAgainMs, undefined, { ref: false })
      }
    }
  }

  async #fetchOnce(node: Node): Promise<void> {
    const { cluster, tuning, memory } = this.#deps
    const waitMs = node.smallAtMs + lingerMs - performance.now()
    if (waitMs > 0) await sleep(Math.ceil(waitMs))
    const asked = this.#wantedOf(node)
    if (asked.length === 0) return void (await sleep(idleMs))
    const { maxWaitTimeMs: maxWaitMs, maxBytes } = tuning
    for (const { state } of asked) state.isFetching = true
    try {
      const broker = await cluster.findBroker({ nodeId: node.id })
      const answered = await fetchFrom(broker, { maxWaitMs, maxBytes }, asked)
      memory.lastAnswerAt = performance.now()
      await this.#take(node, asked, answered)
    } finally {
      for (const { state } of asked) state.isFetching = false
    }
  }

  #wantedOf(node: Node): FetchTarget[] {
    const { options, tuning, memory } = this.#deps
    // While the group rebalances, what is fetched would be dropped.
    if (!memory.joined) return []
    const nowMs = performance.now()
    const free = [...memory.partitions.values()]
      .filter(state => state.leader === node.id && mayFetch(state, nowMs))
      .toSorted((one, other) => one.servedAtMs - other.servedAtMs)
    return free.flatMap(state => {
      const { topic, partition, next: offset } = state
      const wanted = { topic, partition, offset, maxBytes: tuning.maxBytesPerPartition, state }
      if (options.identityOf === undefined) return [wanted]
      const identity = options.identityOf({ topic, partition })
      return identity === undefined ? [] : [{ ...wanted, identity }]
    })
  }

  /** Hands over what was answered, and waits a little until it is begun. */
  async #take(node: Node, asked: FetchTarget[], answered: Answered[]): Promise<void> {
    const { memory, hand } = this.#deps
    let bytes = 0
    const handed: Promise<void>[] = []
    for (const answer of answered) {
      const { topic, partition, messages } = answer
      const target = asked.find(one => one.topic === topic && one.partition === partition)
      if (target === undefined) continue
      const { state, offset } = target
      state.isFetching = false
      bytes += messages.length
      const isMine = memory.joined && memory.partitions.get(partitionKey(answer)) === state
      if (!isMine || state.isHeld || state.next !== offset) continue
      if (answer.errorCode !== 0) {
        this.#refuse(state, answer.errorCode)
        continue
      }
      hasAnswered(state)
      if (messages.length > 0) {
        const fetched = new FetchedBatch(answer, offset)
        if (fetched.isEmpty) continue
        state.servedAtMs = performance.now()
        handed.push(hand(state, fetched))
      }
    }
    if (bytes > 0 && bytes < smallBytes) node.smallAtMs = performance.now()
    await Promise.all(handed)
  }

  /** Holds a partition whose log does not hold its offset, or is another one; delays one that is refused for now. */
  #refuse(state: PartitionState, code: number): void {
    const { options, leaders } = this.#deps
    const { topic, partition, next: wanted } = state
    leaders.expire()
    if (code === offsetOutOfRange) {
      state.isHeld = true
      options.onOutOfLog({ topic, partition, wanted })
    } else if (otherLogCodes.has(code)) {
      state.isHeld = true
      options.onRefused?.({ topic, partition })
    } else {
      const error = errorOf(code)
      if (isFatal(error)) throw error
      refusePartition(state, error, { isShownAtOnce: !transientCodes.has(code) })
    }
  }
}
