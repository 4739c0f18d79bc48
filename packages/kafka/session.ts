import type { Consumer as KafkajsConsumer, EachBatchPayload } from 'kafkajs'
import { backoffMs, rest } from './backoff.ts'
import { RETRY } from './client.ts'
import { commitLater } from './commits.ts'
import { type KafkaConnection, inside } from './connection.ts'
import { meansRejoin } from './crash.ts'
import { OffsetTable } from './offsetTable.ts'
import { openLanes } from './lanes.ts'
import { toRecordBatch } from './recordBatch.ts'
import { shardAssigner } from './shardAssigner.ts'
import type { Assignment, ConsumeOptions } from './types.ts'

export type Tuning = {
  maxBytesPerPartition: number
  maxBytes: number
  maxWaitTimeMs: number
  sessionTimeoutMs: number
  heartbeatIntervalMs: number
  rebalanceTimeoutMs: number
  metadataMaxAgeMs: number
  concurrency: number
}

/** What outlives one kafkajs consumer: where each partition stands, and what went wrong with it. */
export type Memory = {
  /** Where this process wants to read on: set by what onBatch or onAssigned said, never by Kafka's group. */
  positions: OffsetTable<number>
  batchErrors: OffsetTable<Error>
  failures: OffsetTable<number>
  assignment: Assignment
  joined: boolean
  lastAnswerAt: number
  kafkaError?: Error | undefined
  assignError?: Error | undefined
}

export function newMemory(): Memory {
  return {
    positions: new OffsetTable(),
    batchErrors: new OffsetTable(),
    failures: new OffsetTable(),
    assignment: new Map(),
    joined: false,
    lastAnswerAt: Date.now(),
  }
}

/** From one join to the next. Aborted: the partitions are being taken away, start nothing more. */
type Generation = { over: AbortController; ready: Promise<void>; isReady: boolean }

export type Session = {
  /** Resolves with the error that ended it, or with undefined when it was stopped. */
  ended: Promise<Error | undefined>
  end(error?: Error): void
  busy(): boolean
  /** Starts no more batches, waits for those in work, commits, leaves the group. */
  close(): Promise<void>
}

/**
 * One kafkajs consumer from its connect to its crash or stop. kafkajs fetches from every broker in a loop: fetch, hand
 * the batches of that fetch to `concurrency` workers, wait for all of them, fetch again. So that the next batches are
 * fetched while these are in work, a worker is told that its batch is done as soon as the work on it has begun; it waits
 * where the partition, or `concurrency` others, are still in work. What comes of a batch is told later: one that fails is
 * sought back to and its partition rests, others go on. After a rebalance is noticed (by a heartbeat), batches that wait are
 * dropped: they will be fetched again by the one who gets the partition. kafkajs may join again while a batch is still in
 * work; the caller's offsets (ConsumeOptions) are what keeps that right.
 */
export function openSession(
  connection: KafkaConnection,
  options: ConsumeOptions,
  tuning: Tuning,
  memory: Memory,
): Session {
  const { kafka, logger } = inside(connection)
  const consumer = kafka.consumer({
    groupId: options.groupId,
    partitionAssigners: [shardAssigner],
    sessionTimeout: tuning.sessionTimeoutMs,
    heartbeatInterval: tuning.heartbeatIntervalMs,
    rebalanceTimeout: tuning.rebalanceTimeoutMs,
    metadataMaxAge: tuning.metadataMaxAgeMs,
    maxBytesPerPartition: tuning.maxBytesPerPartition,
    maxBytes: tuning.maxBytes,
    maxWaitTimeInMs: tuning.maxWaitTimeMs,
    minBytes: 1,
    allowAutoTopicCreation: false,
    // Starting again is done in consumer.ts, with its own back-off and without an end to the tries.
    retry: { ...RETRY, restartOnFailure: async () => false },
  })
  const end = Promise.withResolvers<Error | undefined>()
  const closing = new AbortController()
  const commits = commitLater(consumer)
  const resting = new Set<NodeJS.Timeout>()
  let generation: Generation = {
    over: new AbortController(),
    ready: new Promise(() => undefined),
    isReady: false,
  }
  const lanes = openLanes(tuning.concurrency)
  let heartbeatNow: (() => Promise<void>) | undefined

  let beating: Promise<void> | undefined
  const heartbeat = (): Promise<void> => {
    beating ??= beat().finally(() => {
      beating = undefined
    })
    return beating
  }

  const beat = async (): Promise<void> => {
    const mine = generation
    try {
      await heartbeatNow?.()
    } catch (error) {
      if (meansRejoin(error)) mine.over.abort()
    }
  }
  const heartbeats = setInterval(() => lanes.count() > 0 && void heartbeat(), tuning.heartbeatIntervalMs)

  const seek = (topic: string, partition: number, offset: number): void => {
    memory.positions.set(topic, partition, offset)
    consumer.seek({ topic, partition, offset: String(offset) })
  }

  const joined = (assignment: Assignment): void => {
    generation.over.abort()
    memory.assignment = assignment
    memory.joined = true
    memory.kafkaError = undefined
    memory.lastAnswerAt = Date.now()
    for (const table of [memory.positions, memory.batchErrors, memory.failures]) table.keepOnly(assignment)
    for (const [topic, partition, offset] of memory.positions.entries()) seek(topic, partition, offset)
    const over = new AbortController()
    const begun: Generation = { over, ready: begin(assignment, over.signal), isReady: false }
    void begun.ready.then(() => {
      begun.isReady = true
    })
    generation = begun
    logger.info({ assignment: Object.fromEntries(assignment) }, 'joined the consumer group')
  }

  const begin = async (assignment: Assignment, over: AbortSignal): Promise<void> => {
    for (let failures = 1; !over.aborted; failures++) {
      try {
        const starts = await options.onAssigned?.(assignment)
        if (over.aborted) return
        for (const [topic, partitions] of starts ?? []) {
          for (const [partition, offset] of partitions) {
            if (assignment.get(topic)?.includes(partition)) seek(topic, partition, offset)
          }
        }
        memory.assignError = undefined
        return
      } catch (error) {
        memory.assignError = error as Error
        logger.warn({ err: error }, 'could not find where to begin; trying again')
        await rest(backoffMs(failures), over)
      }
    }
  }

  const work = async (payload: EachBatchPayload, mine: Generation, begun: () => void): Promise<void> => {
    // Not raced for every batch: each race would leave its listeners behind for as long as the generation lasts.
    if (!mine.isReady) await Promise.race([mine.ready, aborted(mine.over.signal), aborted(closing.signal)])
    const gone = (): boolean => mine.over.signal.aborted || closing.signal.aborted
    if (gone() || payload.isStale()) return
    const batch = toRecordBatch(payload.batch)
    const { topic, partition } = batch
    payload.resolveOffset(payload.batch.lastOffset())
    begun()
    try {
      const next = await options.onBatch(batch, { heartbeat, isStale: gone })
      memory.batchErrors.delete(topic, partition)
      memory.failures.delete(topic, partition)
      if (generation !== mine) return
      commits.add(topic, partition, next)
      memory.positions.set(topic, partition, next)
      if (next !== batch.next) seek(topic, partition, next)
    } catch (error) {
      if (generation !== mine) return
      const failures = (memory.failures.get(topic, partition) ?? 0) + 1
      memory.failures.set(topic, partition, failures)
      memory.batchErrors.set(topic, partition, error as Error)
      logger.warn(
        { err: error, topic, partition, from: batch.from, failures },
        'a batch failed; trying it again',
      )
      seek(topic, partition, batch.from)
      pause(payload, backoffMs(failures))
    }
  }

  const pause = (payload: EachBatchPayload, ms: number): void => {
    const resume = payload.pause()
    const timer = setTimeout(() => {
      resting.delete(timer)
      resume()
    }, ms)
    resting.add(timer)
  }

  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    heartbeatNow = payload.heartbeat
    const mine = generation
    const begun = Promise.withResolvers<void>()
    await lanes.begin(`${payload.batch.topic}:${payload.batch.partition}`, () =>
      work(payload, mine, begun.resolve)
        .catch(error => end.resolve(error as Error))
        .finally(begun.resolve),
    )
    await begun.promise
  }

  consumer.on('consumer.group_join', ({ payload }) =>
    joined(
      new Map(
        Object.entries(payload.memberAssignment).map(([topic, list]) => [topic, [...list].sort(byNumber)]),
      ),
    ),
  )
  consumer.on('consumer.rebalancing', () => {
    memory.joined = false
    generation.over.abort()
  })
  consumer.on('consumer.network.request', ({ payload }) => {
    const alive =
      payload.apiName === 'Fetch' || (payload.apiName === 'Heartbeat' && memory.assignment.size === 0)
    if (alive) memory.lastAnswerAt = Date.now()
  })
  consumer.on('consumer.crash', ({ payload }) => end.resolve(payload.error))
  start(consumer, options, tuning, eachBatch).catch(error => end.resolve(error as Error))

  return {
    ended: end.promise,
    end: end.resolve,
    busy: () => lanes.count() > 0,
    async close() {
      closing.abort()
      await lanes.idle()
      await commits.close()
      clearInterval(heartbeats)
      for (const timer of resting) clearTimeout(timer)
      memory.joined = false
      await consumer.disconnect().catch(() => undefined)
      generation.over.abort()
      end.resolve(undefined)
    },
  }
}

async function start(
  consumer: KafkajsConsumer,
  { topics }: ConsumeOptions,
  { concurrency }: Tuning,
  eachBatch: (payload: EachBatchPayload) => Promise<void>,
): Promise<void> {
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: concurrency,
    eachBatch,
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise(resolve => signal.addEventListener('abort', () => resolve()))
}

const byNumber = (a: number, b: number): number => a - b
