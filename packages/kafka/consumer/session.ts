import type { EachBatchPayload } from 'kafkajs'
import type { FetchedBatch } from '../batches/fetchedBatch.ts'
import { readAhead } from '../batches/readParts.ts'
import { backoffMs, settled, sleepUntil } from '../client/backoff.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { meansRejoin } from '../client/crash.ts'
import { OffsetTable } from '../log/offsetTable.ts'
import type { Assignment, ConsumeOptions, RecordBatch } from '../types.ts'
import { commitLater } from './commits.ts'
import { newGroupConsumer, type OutOfLog, runGroupConsumer } from './groupConsumer.ts'
import type { Memory, Tuning } from './memory.ts'
import { openLanes } from './partitionQueue.ts'
import { openPauses } from './pauses.ts'

/** How long the fetch loop waits for a busy partition: longer than most batches take, so that few are queued. */
const queueAfterMs = 200
/** How long a session that closes waits for batches in work: below the 8 s that a consumer has for it. */
const finishTimeoutMs = 5_000

/** From one join to the next. Aborted: the partitions are being taken away, start nothing more. */
type Generation = { over: AbortController; ready: Promise<void>; isReady: boolean }

export type Session = {
  /** Resolves with the error that ended it, or with undefined when it was stopped. */
  ended: Promise<Error | undefined>
  end(error?: Error): void
  busy(): boolean
  /** As Consumer.seek, hold and resume. */
  seek(topic: string, partition: number, offset: number): void
  hold(topic: string, partition: number): void
  resume(topic: string, partition: number): void
  /** Starts no more batches, waits for those in work (5 s at most), commits, leaves the group. */
  close(): Promise<void>
}

/**
 * One kafkajs consumer from its connect to its crash or stop. kafkajs fetches from every broker in a loop: fetch, hand
 * the batches of that fetch to `concurrency` workers, wait for all of them, fetch again. So that the next batches are
 * fetched while these are processed, the session reports a batch to its worker as done as soon as work on it has begun.
 * A batch whose partition is still busy after queueAfterMs (a lock, an expensive batch) waits on its own: its
 * partition is not fetched meanwhile, and the loop goes on for the others. If a batch fails later, the session seeks
 * its partition back to it and lets that partition rest; others go on. When a heartbeat reports a rebalance, waiting
 * batches are dropped: the new owner of the partition fetches them again. kafkajs may join again while a batch is still
 * in work; the caller's offsets (ConsumeOptions) are what keeps that right.
 */
export function openSession(
  connection: KafkaConnection,
  options: ConsumeOptions,
  tuning: Tuning,
  memory: Memory,
): Session {
  const { kafka, logger } = inside(connection)
  const consumer = newGroupConsumer(kafka, options, tuning, of => outOfLog(of))
  const end = Promise.withResolvers<Error | undefined>()
  const closing = new AbortController()
  const commits = commitLater(consumer)
  const pauses = openPauses(consumer)
  const resting = new OffsetTable<NodeJS.Timeout>()
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
    memory.seeks.set(topic, partition, seeksOf(topic, partition) + 1)
    try {
      consumer.seek({ topic, partition, offset: String(offset) })
    } catch {
      // kafkajs throws before it has joined and after it has stopped: the next join seeks to the positions.
    }
  }
  const seeksOf = (topic: string, partition: number): number => memory.seeks.get(topic, partition) ?? 0

  const hold = (topic: string, partition: number): void => {
    memory.held.set(topic, partition, true)
    pauses.add(topic, partition, 'held')
  }

  const resume = (topic: string, partition: number): void => {
    memory.held.delete(topic, partition)
    memory.batchErrors.delete(topic, partition)
    // Batches fetched before the partition was held were dropped.
    const position = memory.positions.get(topic, partition)
    if (position !== undefined) seek(topic, partition, position)
    pauses.remove(topic, partition, 'held')
  }

  const outOfLog = ({ topic, partition, wanted }: OutOfLog): boolean => {
    const isMine = memory.positions.get(topic, partition) === wanted
    if (options.onOutOfLog === undefined || !isMine) return false
    hold(topic, partition)
    options.onOutOfLog({ topic, partition, wanted })
    return true
  }

  const joined = (assignment: Assignment): void => {
    generation.over.abort()
    memory.assignment = assignment
    memory.joined = true
    memory.kafkaError = undefined
    memory.lastAnswerAt = Date.now()
    for (const table of [memory.positions, memory.batchErrors, memory.failures, memory.held, memory.seeks])
      table.keepOnly(assignment)
    for (const [topic, partition, offset] of memory.positions.entries()) seek(topic, partition, offset)
    for (const [topic, partition] of memory.held.entries()) hold(topic, partition)
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
            if (!assignment.get(topic)?.includes(partition)) continue
            if (offset === 'held') hold(topic, partition)
            else place(topic, partition, offset)
          }
        }
        memory.assignError = undefined
        return
      } catch (error) {
        memory.assignError = error as Error
        logger.warn({ err: error }, 'could not find where to begin; trying again')
        await sleepUntil(backoffMs(failures), over)
      }
    }
  }

  const place = (topic: string, partition: number, offset: number): void => {
    seek(topic, partition, offset)
    if (memory.held.get(topic, partition)) resume(topic, partition)
  }

  const work = async (
    payload: EachBatchPayload,
    parts: AsyncIterable<RecordBatch>,
    { mine, seeks, begun }: { mine: Generation; seeks: number; begun: () => void },
  ): Promise<void> => {
    // Not raced for every batch: each race would leave its listeners behind for as long as the generation lasts.
    if (!mine.isReady) await Promise.race([mine.ready, aborted(mine.over.signal), aborted(closing.signal)])
    const gone = (): boolean => mine.over.signal.aborted || closing.signal.aborted
    const { topic, partition } = payload.batch
    const isOutdated = (): boolean =>
      memory.held.get(topic, partition) === true || seeksOf(topic, partition) !== seeks
    if (gone() || payload.isStale() || isOutdated()) return
    payload.resolveOffset(payload.batch.lastOffset())
    begun()
    let from = Number(payload.batch.firstOffset())
    try {
      for await (const batch of parts) {
        const next = await options.onBatch(batch, { heartbeat, isStale: gone })
        memory.batchErrors.delete(topic, partition)
        memory.failures.delete(topic, partition)
        if (generation !== mine) return
        commits.add(topic, partition, next)
        if (isOutdated()) return
        memory.positions.set(topic, partition, next)
        if (next !== batch.next) return seek(topic, partition, next)
        if (gone()) return
        from = next
      }
    } catch (error) {
      if (generation !== mine) return
      const failures = (memory.failures.get(topic, partition) ?? 0) + 1
      memory.failures.set(topic, partition, failures)
      memory.batchErrors.set(topic, partition, error as Error)
      logger.warn({ err: error, topic, partition, from, failures }, 'a batch failed; trying it again')
      if (isOutdated()) return
      seek(topic, partition, from)
      rest(topic, partition, backoffMs(failures))
    }
  }

  const rest = (topic: string, partition: number, ms: number): void => {
    pauses.add(topic, partition, 'resting')
    clearTimeout(resting.get(topic, partition))
    resting.set(
      topic,
      partition,
      setTimeout(() => pauses.remove(topic, partition, 'resting'), ms),
    )
  }

  const seekNow = (topic: string, partition: number, offset: number): void => {
    if (!memory.assignment.get(topic)?.includes(partition)) return
    seek(topic, partition, offset)
    memory.failures.delete(topic, partition)
    memory.batchErrors.delete(topic, partition)
    clearTimeout(resting.get(topic, partition))
    pauses.remove(topic, partition, 'resting')
  }

  const eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    heartbeatNow = payload.heartbeat
    const { topic, partition } = payload.batch
    const lane = `${topic}:${partition}`
    const begun = Promise.withResolvers<void>()
    const reading = readAhead(payload.batch as unknown as FetchedBatch)
    let isInLane = false
    const of = { mine: generation, seeks: seeksOf(topic, partition), begun: begun.resolve }
    const inLane = lanes.begin(lane, () => {
      isInLane = true
      return work(payload, reading.parts(), of)
        .catch(error => end.resolve(error as Error))
        .finally(reading.drop)
        .finally(begun.resolve)
    })
    if (!isInLane) await settled(inLane, queueAfterMs)
    if (isInLane || !lanes.isBusy(lane)) return begun.promise
    payload.resolveOffset(payload.batch.lastOffset())
    pauses.add(topic, partition, 'queued')
    void begun.promise.then(() => pauses.remove(topic, partition, 'queued'))
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
  runGroupConsumer(consumer, options, tuning, eachBatch).catch(error => end.resolve(error as Error))

  return {
    ended: end.promise,
    end: end.resolve,
    busy: () => lanes.count() > 0,
    seek: seekNow,
    hold,
    resume,
    async close() {
      closing.abort()
      // A batch that hangs is begun again by the next owner of its partition; the group must know that this one has left.
      await settled(lanes.idle(), finishTimeoutMs)
      await commits.close()
      clearInterval(heartbeats)
      for (const [, , timer] of resting.entries()) clearTimeout(timer)
      memory.joined = false
      await consumer.disconnect().catch(() => undefined)
      generation.over.abort()
      end.resolve(undefined)
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise(resolve => signal.addEventListener('abort', () => resolve()))
}

const byNumber = (a: number, b: number): number => a - b
