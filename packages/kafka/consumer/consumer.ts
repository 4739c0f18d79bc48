import { isFatal } from '@tally/platform'
import { backoffMs, createUnexpected, settled, sleepUntil } from '../client/backoff.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { isUnknownTopic, TopicMissingError } from '../errors.ts'
import { describeTopics } from '../topics/topics.ts'
import { type ConsumeOptions, type Consumer, partitionKey, type Tuning } from '../types.ts'
import { hold, newMemory, type PartitionState, resume, seekNow, stateOf } from './memory.ts'
import { Session } from './session.ts'

const defaultTuning: Tuning = {
  maxBytesPerPartition: 4 * 1024 * 1024,
  maxBytes: 16 * 1024 * 1024,
  // The broker answers as soon as there is a record. This is how long it waits if there is none, and so the longest
  // time until a heartbeat is sent, and until a seek, a resumed partition or a stop takes effect.
  maxWaitTimeMs: 250,
  sessionTimeoutMs: 10_000,
  // How soon the members of a group notice that one has joined or left: until all of them have, none of them reads.
  heartbeatIntervalMs: 300,
  rebalanceTimeoutMs: 20_000,
  // How soon partitions that were added are read.
  metadataMaxAgeMs: 5_000,
  concurrency: 4,
}

const stopTimeoutMs = 8_000
/** Without an answer for this long, the session is replaced: kafkajs stalls for unknown reasons (issue 659). */
const stalledMs = 60_000

/**
 * Reads topics as a member of a consumer group, batch by batch, until it is stopped. It recovers from every fault of
 * Kafka (a broker down, a rebalance, a coordinator that moved), however long that takes. Returns at once; `state()`
 * tells whether it has joined. The offsets that count are the caller's: see ConsumeOptions.
 */
export async function consumeBatches(
  connection: KafkaConnection,
  options: ConsumeOptions,
): Promise<Consumer> {
  const { logger } = inside(connection)
  const tuning: Tuning = { ...defaultTuning, ...options }
  const memory = newMemory()
  const stopping = new AbortController()
  let session: Session | undefined
  let sessionBeganAt = 0
  const unexpected = createUnexpected(logger, 'the consumer stopped; starting it again')
  const whyFatal = createWhyFatal(options.topics, () => describeTopics(connection, options.topics))

  const supervise = async (): Promise<void> => {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      sessionBeganAt = performance.now()
      session = new Session(connection, options, tuning, memory)
      const error = await session.ended
      const lastedMs = performance.now() - sessionBeganAt
      if (stopping.signal.aborted) return
      memory.kafkaError = error
      await Promise.race([session.close(), sleepUntil(stopTimeoutMs, stopping.signal)])
      const fatal = error && (await whyFatal(error, lastedMs))
      if (fatal) return options.onCrash(fatal)
      unexpected(error, failures)
      if (lastedMs > stalledMs) failures = 1
      await sleepUntil(backoffMs(failures), stopping.signal)
    }
  }

  const watchdog = setInterval(() => {
    // After an outage, a new session has as long to get its first answer.
    const quietMs = performance.now() - Math.max(memory.lastAnswerAt, sessionBeganAt)
    if (!session?.busy() && quietMs > stalledMs)
      session?.end(new Error(`Kafka has not answered for ${stalledMs / 1_000} s`))
  }, 5_000)
  const supervised = supervise().catch(error => options.onCrash(error as Error))

  const ofAssigned = (topic: string, partition: number, work: (of: PartitionState) => void): void => {
    const of = memory.partitions.get(partitionKey({ topic, partition }))
    if (of !== undefined) work(of)
  }
  return {
    state: () => stateOf(memory),
    seek: (topic, partition, offset) => ofAssigned(topic, partition, of => seekNow(of, offset)),
    hold: (topic, partition) => ofAssigned(topic, partition, hold),
    resume: (topic, partition) => ofAssigned(topic, partition, resume),
    async stop() {
      stopping.abort()
      clearInterval(watchdog)
      await settled(Promise.all([session?.close(), supervised]), stopTimeoutMs)
    },
  }
}

/** A topic counts as deleted once it has been missing for this long: a broker that has just started knows none. */
const topicMissingMs = 60_000

/** Returns a function that gives the error to crash with after a session's error, if no new session may heal it. */
export function createWhyFatal(topics: string[], describe: () => Promise<ReadonlyMap<string, unknown>>) {
  let missingSince: number | undefined
  return async (error: Error, lastedMs: number): Promise<Error | undefined> => {
    if (isFatal(error)) return error
    const isMissing = isUnknownTopic(error)
    // A session that lasts has all topics.
    if (!isMissing || lastedMs > topicMissingMs) missingSince = undefined
    if (!isMissing) return undefined
    missingSince ??= performance.now()
    if (performance.now() - missingSince < topicMissingMs) return undefined
    const known = await describe().catch(() => undefined)
    const missing = known === undefined ? [] : topics.filter(topic => !known.has(topic))
    return missing.length > 0 ? new TopicMissingError(missing) : undefined
  }
}
