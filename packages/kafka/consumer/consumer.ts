import { isFatal } from '@tally/runtime'
import { backoffMs, settled, sleepUntil } from '../client/backoff.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { isUnknownTopic, type OutOfRange, outOfRange } from '../client/crash.ts'
import { OffsetOutOfLogError, TopicMissingError } from '../errors.ts'
import { endOffsets } from '../log/offsets.ts'
import { describeTopics } from '../topics/topics.ts'
import type { ConsumeOptions, Consumer } from '../types.ts'
import { newMemory, type Tuning } from './memory.ts'
import { openSession, type Session } from './session.ts'

const defaultTuning: Tuning = {
  maxBytesPerPartition: 4 * 1024 * 1024,
  maxBytes: 16 * 1024 * 1024,
  // The broker answers as soon as there is one record. This is how long it waits when there is none, and so the longest
  // time until a heartbeat is sent, a seek or a partition that rested takes effect, and a stop is heard.
  maxWaitTimeMs: 250,
  sessionTimeoutMs: 10_000,
  heartbeatIntervalMs: 1_000,
  rebalanceTimeoutMs: 20_000,
  // How soon partitions that were added are read.
  metadataMaxAgeMs: 5_000,
  concurrency: 4,
}

const stopTimeoutMs = 8_000
/** A topic is missing for good when it has been for this long: a broker that has just started knows none. */
const topicMissingMs = 60_000
/** kafkajs's consumer has stalled in ways that are not understood (issue 659): without an answer for so long, a new one. */
const stalledMs = 60_000

/**
 * Reads topics as a member of a consumer group, batch by batch, and goes on until it is stopped: what Kafka does (a broker
 * down, a rebalance, a coordinator that moved) heals by itself, however long it takes. Returns at once; `state()` tells
 * when it has joined. The offsets that count are the caller's: see ConsumeOptions.
 */
export async function consumeBatches(
  connection: KafkaConnection,
  options: ConsumeOptions,
): Promise<Consumer> {
  const { logger } = inside(connection)
  const tuning: Tuning = { ...defaultTuning, ...given(options) }
  const memory = newMemory()
  const stopping = new AbortController()
  let session: Session | undefined
  let topicMissingSince: number | undefined

  const supervise = async (): Promise<void> => {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      const startedAt = Date.now()
      session = openSession(connection, options, tuning, memory)
      const error = await session.ended
      if (stopping.signal.aborted) return
      memory.kafkaError = error
      await Promise.race([session.close(), sleepUntil(stopTimeoutMs, stopping.signal)])
      const fatal = error && (await whyFatal(error))
      if (fatal) return options.onCrash(fatal)
      logger.warn({ err: error }, 'the consumer stopped; starting it again')
      if (Date.now() - startedAt > stalledMs) failures = 1
      await sleepUntil(backoffMs(failures), stopping.signal)
    }
  }

  /** The error to crash with, or undefined where another try may heal. */
  const whyFatal = async (error: Error): Promise<Error | undefined> => {
    const range = outOfRange(error)
    if (range) return judgeRange(range)
    if (isFatal(error)) return error
    if (!isUnknownTopic(error)) {
      topicMissingSince = undefined
      return undefined
    }
    topicMissingSince ??= Date.now()
    if (Date.now() - topicMissingSince < topicMissingMs) return undefined
    const known = await describeTopics(connection, options.topics).catch(() => undefined)
    return known && new TopicMissingError(options.topics.filter(topic => !known.has(topic)))
  }

  /**
   * An offset that the caller asked for is its truth: crash. One that only Kafka's group remembered is not: the caller
   * has asked for another one meanwhile, or reading begins at the start of the log.
   */
  const judgeRange = async ({ topic, partition, wantedOffset }: OutOfRange): Promise<Error | undefined> => {
    const log = await endOffsets(connection, [topic]).catch(() => undefined)
    const held = log?.get(topic)?.get(partition)
    if (!held) return undefined
    const asked = memory.positions.get(topic, partition)
    if (asked === wantedOffset) return new OffsetOutOfLogError(topic, partition, wantedOffset, held)
    if (asked !== undefined) return undefined
    logger.warn(
      { topic, partition, wantedOffset, ...held },
      'the group stands outside the log; reading from its start',
    )
    memory.positions.set(topic, partition, held.start)
    return undefined
  }

  const watchdog = setInterval(() => {
    if (!session?.busy() && Date.now() - memory.lastAnswerAt > stalledMs) {
      memory.lastAnswerAt = Date.now()
      session?.end(new Error(`Kafka has not answered for ${stalledMs / 1_000} s`))
    }
  }, 5_000)
  const supervised = supervise().catch(error => options.onCrash(error as Error))

  return {
    state() {
      const lastError = memory.batchErrors.entries()[0]?.[2] ?? memory.assignError ?? memory.kafkaError
      return {
        joined: memory.joined,
        lastFetchMs: Date.now() - memory.lastAnswerAt,
        assignment: memory.assignment,
        batchErrors: memory.batchErrors
          .entries()
          .map(([topic, partition, error]) => ({ topic, partition, error })),
        ...(lastError && { lastError }),
      }
    },
    seek(topic, partition, offset) {
      session?.seek(topic, partition, offset)
    },
    hold(topic, partition) {
      session?.hold(topic, partition)
    },
    resume(topic, partition) {
      session?.resume(topic, partition)
    },
    async stop() {
      stopping.abort()
      clearInterval(watchdog)
      await settled(Promise.all([session?.close(), supervised]), stopTimeoutMs)
    },
  }
}

/** The tuning that was given: an undefined one must not hide its default. */
function given(options: ConsumeOptions): Partial<Tuning> {
  return Object.fromEntries(
    Object.keys(defaultTuning).flatMap(name => {
      const value = options[name as keyof Tuning]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
