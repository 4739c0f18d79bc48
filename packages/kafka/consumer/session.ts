import { once } from 'node:events'
import { isFatal, openInterval } from '@tally/platform'
import type { FetchedBatch } from '../batches/fetchedBatch.ts'
import { readAhead } from '../batches/readParts.ts'
import { settled } from '../client/backoff.ts'
import { inside, type KafkaConnection, openCluster } from '../client/connection.ts'
import { isUnknownTopic, meansRejoin } from '../errors.ts'
import { type ConsumeOptions, partitionKey, type Tuning } from '../types.ts'
import { nextClaim } from './assignShards.ts'
import { FetchLoops } from './fetchLoops.ts'
import {
  beginGeneration,
  createPartitionQueues,
  type Generation,
  type ProcessDeps,
  processFetch,
} from './generation.ts'
import { Leaders } from './leaders.ts'
import { type Commits, commitLater, lookAgainMs, Membership } from './membership.ts'
import type { Memory, PartitionState } from './memory.ts'

/** How long closing waits for batches in progress; less than the 8 s in which a consumer must stop. */
const finishMs = 5_000
const leaveMs = 1_500
/** How long a loop waits for a busy partition: longer than most batches take, so that few have to wait. */
const busyMs = 200

/**
 * One membership of the consumer group, from connecting to a failure or to `close`. It joins, fetches from the leaders
 * of its partitions and passes on the batches, a partition's one after the other; when a heartbeat reports a rebalance,
 * it drops the batches that wait and joins again, also while a batch is still processed. The caller's offsets
 * (ConsumeOptions) keep that right.
 */
export class Session {
  readonly #options: ConsumeOptions
  readonly #memory: Memory
  readonly #logger
  readonly #cluster
  readonly #leaders: Leaders
  readonly #membership: Membership
  readonly #commits: Commits
  readonly #loops: FetchLoops
  readonly #queues
  readonly #process: ProcessDeps
  readonly #refreshes
  readonly #timers
  readonly #closing = new AbortController()
  readonly #end = Promise.withResolvers<Error | undefined>()
  readonly #running: Promise<void>
  #generation: Generation | undefined

  constructor(connection: KafkaConnection, options: ConsumeOptions, tuning: Tuning, memory: Memory) {
    const { kafka, logger } = inside(connection)
    const { groupId, topics } = options
    this.#options = options
    this.#memory = memory
    this.#logger = logger
    const cluster = openCluster(kafka)
    const leaders = new Leaders(cluster, topics, tuning.metadataMaxAgeMs)
    this.#cluster = cluster
    this.#leaders = leaders
    const counts = () => leaders.read()
    this.#membership = new Membership({ cluster, groupId, topics, tuning, claim: () => memory.claim, counts })
    this.#commits = commitLater(this.#membership)
    this.#queues = createPartitionQueues(tuning.concurrency)
    this.#process = {
      options,
      isCurrent: generation => generation === this.#generation,
      commit: (of, next) => this.#commits.add(of, next),
      logger,
    }
    this.#loops = new FetchLoops({
      cluster,
      leaders,
      options,
      tuning,
      memory,
      hand: (of, fetched) => this.#hand(of, fetched),
      end: error => this.end(error),
      closing: this.#closing.signal,
    })
    this.#refreshes = openInterval(
      lookAgainMs,
      () => this.#refresh(),
      error => this.#notRefreshed(error),
    )
    this.#timers = [
      this.#refreshes,
      openInterval(
        tuning.heartbeatIntervalMs,
        () => this.#heartbeat(),
        error => this.end(error as Error),
      ),
    ]
    this.#running = this.#run().catch(error => this.end(error))
  }

  /** Resolves with the error that ended it, or with undefined if it was stopped. */
  get ended(): Promise<Error | undefined> {
    return this.#end.promise
  }

  end(error: Error): void {
    this.#end.resolve(error)
  }

  /** Whether nothing has to arrive from Kafka: batches are in progress, or onAssigned has not answered. */
  busy(): boolean {
    return !this.#queues.isIdle() || (this.#memory.joined && !this.#memory.begun)
  }

  /** Starts no more batches, waits for those in progress (5 s at most), commits, leaves the group. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#generation?.over.abort()
    // A batch that hangs is begun again by the partition's next owner; the group must know that this member has left.
    await settled(Promise.all([this.#queues.idle(), this.#running]), finishMs)
    await this.#commits.close()
    this.#memory.joined = false
    await settled(this.#leave(), leaveMs)
    this.#end.resolve(undefined)
  }

  /** Leaves the group, if need be once a join that is under way is answered: nothing else would end that member. */
  async #leave(): Promise<void> {
    await Promise.all([this.#running, ...this.#timers.map(timer => timer.stop()), this.#loops.ended()])
    await this.#membership.leave().catch(() => undefined)
    await this.#cluster.disconnect().catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    const memory = this.#memory
    await this.#cluster.connect()
    if (!signal.aborted) await this.#cluster.addMultipleTargetTopics(this.#options.topics)
    while (!signal.aborted) {
      const joined = await this.#membership.join(signal)
      if (signal.aborted) return
      memory.claim = nextClaim(memory.claim, joined.generation, joined.assignment)
      this.#leaders.expire()
      const generation = beginGeneration({ options: this.#options, memory, logger: this.#logger }, joined)
      this.#generation = generation
      void this.#refreshes.run()
      await once(generation.over.signal, 'abort')
    }
  }

  #lose(generation: Generation): void {
    if (this.#generation !== generation) return
    this.#memory.joined = false
    generation.over.abort()
  }

  async #heartbeat(): Promise<void> {
    const generation = this.#generation
    const memory = this.#memory
    if (generation === undefined || !memory.joined) return
    try {
      await this.#membership.heartbeat()
      // Nothing is fetched from partitions that are held.
      if ([...memory.partitions.values()].every(of => of.isHeld)) memory.lastAnswerAt = performance.now()
    } catch (error) {
      if (this.#generation === generation && !meansRejoin(error)) throw error
      this.#lose(generation)
    }
  }

  /** Follows new leaders and added partitions. */
  async #refresh(): Promise<void> {
    const generation = this.#generation
    if (generation === undefined || !this.#memory.joined) return
    await this.#leaders.refresh().finally(() => this.#loops.begin())
    const counts = this.#leaders.counts()
    generation.counts ??= counts
    for (const topic of this.#options.topics)
      if (counts.get(topic) !== generation.counts.get(topic)) return this.#lose(generation)
  }

  #notRefreshed(error: unknown): void {
    if (isFatal(error) || isUnknownTopic(error)) this.end(error as Error)
    else this.#logger.debug({ err: error }, 'could not ask who leads the partitions; asking again')
  }

  /** Queues a batch; resolves once it is begun or dropped, or, if another one of its partition is in progress, soon. */
  async #hand(state: PartitionState, fetched: FetchedBatch): Promise<void> {
    const generation = this.#generation as Generation
    const begun = Promise.withResolvers<void>()
    const reading = readAhead(fetched)
    const of = { state, generation, seeks: state.seeks, from: fetched.from }
    state.next = fetched.next
    state.isWaiting = true
    // Once: when this batch ends, it may be the next one that waits.
    void begun.promise.then(() => {
      state.isWaiting = false
    })
    const key = partitionKey(state)
    const hasBegun = this.#queues.begin(key, () =>
      processFetch(this.#process, of, reading.parts(), begun.resolve)
        .catch(error => this.end(error as Error))
        .finally(reading.drop)
        .finally(begun.resolve),
    )
    if (hasBegun) return
    await settled(begun.promise, busyMs)
    if (!this.#queues.isBusy(key)) await begun.promise
  }
}
