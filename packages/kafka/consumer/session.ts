import type { Consumer, EachBatchPayload } from 'kafkajs'
import type { FetchedBatch } from '../batches/fetchedBatch.ts'
import { readAhead } from '../batches/readParts.ts'
import { settled } from '../client/backoff.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import type { Refused } from '../patches/refused.ts'
import { partitionKey } from '../topics/topicPartition.ts'
import type { Assignment, ConsumeOptions } from '../types.ts'
import { nextClaim } from './claim.ts'
import { commitLater } from './commits.ts'
import { type Generations, openGenerations } from './generation.ts'
import { newGroupConsumer, type OutOfLog, runGroupConsumer } from './groupConsumer.ts'
import { openHeartbeats } from './heartbeats.ts'
import type { Memory, Tuning } from './memory.ts'
import { openPartitionQueues } from './partitionQueue.ts'
import { openPositions, type Positions } from './positions.ts'
import { openProcess } from './processFetch.ts'

/** How long the fetch loop waits for a busy partition: longer than most batches take, so that few are queued. */
const queueAfterMs = 200
/** How long a partition is not fetched after its broker was not ready to read it, as during an election. */
const refusedMs = 100
/** How long closing waits for batches in progress; less than the 8 s in which a consumer must stop. */
const finishTimeoutMs = 5_000

export type Session = {
  /** Resolves with the error that ended it, or with undefined if it was stopped. */
  ended: Promise<Error | undefined>
  end(error?: Error): void
  busy(): boolean
  /** As Consumer.seek, hold and resume. */
  seek(topic: string, partition: number, offset: number): void
  hold(topic: string, partition: number): void
  resume(topic: string, partition: number): void
  /** Starts no more batches, waits for those in progress (5 s at most), commits, leaves the group. */
  close(): Promise<void>
}

/**
 * One kafkajs consumer from its connect to its crash or stop. kafkajs fetches from every broker in a loop: fetch, hand
 * the batches of that fetch to `concurrency` workers, wait for all of them, fetch again. So that the next batches are
 * fetched while these are processed, the session reports a batch to its worker as done as soon as it is started.
 *
 * A batch whose partition is still busy after 200 ms (a lock, an expensive batch) waits in the partition's queue: the
 * partition is not fetched meanwhile, and the loop goes on for the others. If a batch fails later, the session seeks
 * its partition back to it and pauses that partition alone. When a heartbeat reports a rebalance, waiting batches are
 * dropped: the new owner of the partition fetches them again. kafkajs may join again while a batch is still processed;
 * the caller's offsets (ConsumeOptions) keep that right.
 */
export function openSession(
  connection: KafkaConnection,
  options: ConsumeOptions,
  tuning: Tuning,
  memory: Memory,
): Session {
  const { kafka, logger } = inside(connection)
  const { identityOf } = options
  const consumer = newGroupConsumer(kafka, options, tuning, {
    outOfLog: of => holdOutOfLog(options, memory, positions, of),
    fetches: identityOf && { identityOf, refused: of => holdRefused(options, memory, positions, of) },
    claim: () => memory.claim,
    joined(generation, assignment) {
      // The memory may be the next session's by now.
      if (!closing.signal.aborted) memory.claim = nextClaim(memory.claim, generation, assignment)
    },
  })
  const end = Promise.withResolvers<Error | undefined>()
  const closing = new AbortController()
  const commits = commitLater(consumer)
  const positions = openPositions(consumer, memory)
  const generations = openGenerations({ options, memory, positions, logger })
  const queues = openPartitionQueues(tuning.concurrency)
  const heartbeats = openHeartbeats({
    everyMs: tuning.heartbeatIntervalMs,
    isBusy: () => queues.count() > 0,
    current: generations.current,
  })
  const processFetch = openProcess({
    options,
    memory,
    positions,
    generations,
    commits,
    heartbeat: heartbeats.send,
    closing: closing.signal,
    logger,
  })

  const eachBatch = openEachBatch({
    queues,
    positions,
    generations,
    heartbeats,
    processFetch,
    end: end.resolve,
  })
  listen(consumer, { generations, memory, end: end.resolve, closing: closing.signal })
  runGroupConsumer(consumer, options, tuning, eachBatch, closing.signal).catch(error =>
    end.resolve(error as Error),
  )

  return {
    ended: end.promise,
    end: end.resolve,
    // Before onAssigned has answered, nothing is fetched from logs that it has to check.
    busy: () => queues.count() > 0 || (memory.joined && !generations.current().isReady),
    seek: positions.seekNow,
    hold: positions.hold,
    resume: positions.resume,
    async close() {
      closing.abort()
      // A batch that hangs is begun again by the partition's next owner; the group must know that this member has left.
      await settled(queues.idle(), finishTimeoutMs)
      await commits.close()
      heartbeats.stop()
      positions.close()
      memory.joined = false
      await consumer.disconnect().catch(() => undefined)
      generations.current().over.abort()
      end.resolve(undefined)
    },
  }
}

/** Holds a partition whose next offset its log does not have, if the caller wants to know; false if it does not. */
function holdOutOfLog(
  { onOutOfLog }: ConsumeOptions,
  memory: Memory,
  positions: Positions,
  { topic, partition, wanted }: OutOfLog,
): boolean {
  const isMine = memory.positions.get(topic, partition) === wanted
  if (onOutOfLog === undefined || !isMine) return false
  positions.hold(topic, partition)
  onOutOfLog({ topic, partition, wanted })
  return true
}

/** Holds a partition that its broker refuses because its log is another one, and delays one that it refuses for now. */
function holdRefused(
  { onRefused }: ConsumeOptions,
  memory: Memory,
  positions: Positions,
  { topic, partition, isOther }: Refused,
): void {
  if (!memory.assignment.get(topic)?.includes(partition)) return
  if (isOther) {
    positions.hold(topic, partition)
    onRefused?.({ topic, partition })
  } else {
    positions.delay(topic, partition, refusedMs)
  }
}

type Batches = {
  queues: ReturnType<typeof openPartitionQueues>
  positions: Positions
  generations: Generations
  heartbeats: ReturnType<typeof openHeartbeats>
  processFetch: ReturnType<typeof openProcess>
  end: (error: Error) => void
}

/** What kafkajs calls for each batch; resolves once the batch is started. */
function openEachBatch({ queues, positions, generations, heartbeats, processFetch, end }: Batches) {
  return async (payload: EachBatchPayload): Promise<void> => {
    heartbeats.sendWith(payload.heartbeat)
    const { topic, partition } = payload.batch
    const key = partitionKey({ topic, partition })
    const begun = Promise.withResolvers<void>()
    const reading = readAhead(payload.batch as unknown as FetchedBatch)
    const generation = generations.current()
    const fetch = { topic, partition, generation, seeks: positions.seeksOf(topic, partition) }
    let isTaken = false
    const taken = queues.begin(key, () => {
      isTaken = true
      return processFetch(fetch, payload, reading.parts(), begun.resolve)
        .catch(error => end(error as Error))
        .finally(reading.drop)
        .finally(begun.resolve)
    })
    if (!isTaken) await settled(taken, queueAfterMs)
    if (isTaken || !queues.isBusy(key)) return begun.promise
    payload.resolveOffset(payload.batch.lastOffset())
    positions.pauses.add(topic, partition, 'queued')
    void begun.promise.then(() => positions.pauses.remove(topic, partition, 'queued'))
  }
}

type Listening = {
  generations: Generations
  memory: Memory
  end: (error: Error) => void
  closing: AbortSignal
}

/** Follows what kafkajs reports about the group and the broker. */
function listen(consumer: Consumer, { generations, memory, end, closing }: Listening): void {
  consumer.on('consumer.group_join', ({ payload }) => {
    // The memory may be the next session's by now.
    if (!closing.aborted) generations.joined(sortedAssignment(payload.memberAssignment))
  })
  consumer.on('consumer.rebalancing', generations.rebalancing)
  consumer.on('consumer.network.request', ({ payload: { apiName } }) => {
    const isAlive = apiName === 'Fetch' || (apiName === 'Heartbeat' && memory.assignment.size === 0)
    if (isAlive) memory.lastAnswerAt = Date.now()
  })
  consumer.on('consumer.crash', ({ payload }) => end(payload.error))
}

function sortedAssignment(of: Record<string, number[]>): Assignment {
  return new Map(Object.entries(of).map(([topic, list]) => [topic, list.toSorted((a, b) => a - b)]))
}
