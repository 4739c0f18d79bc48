import { isFatal } from '@tally/runtime'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { isUnknownTopic, type OutOfRange, outOfRange } from '../client/crash.ts'
import { OffsetOutOfLogError, TopicMissingError } from '../errors.ts'
import { endOffsets } from '../log/offsets.ts'
import { describeTopics } from '../topics/topics.ts'
import type { Memory } from './memory.ts'

/** A topic counts as deleted once it has been missing for this long: a broker that has just started knows none. */
const topicMissingMs = 60_000

/**
 * Returns a function that takes the error that ended a session and returns the error to crash with, or undefined if
 * another session may heal it.
 */
export function openWhyFatal(connection: KafkaConnection, topics: string[], memory: Memory) {
  const { logger } = inside(connection)
  let topicMissingSince: number | undefined

  /**
   * An offset that the caller asked for counts: crash. One that only Kafka's group remembered does not: the caller has
   * asked for another one meanwhile, or reading begins at the start of the log.
   */
  const judgeRange = async ({ topic, partition, wantedOffset }: OutOfRange): Promise<Error | undefined> => {
    const log = await endOffsets(connection, [topic]).catch(() => undefined)
    const range = log?.get(topic)?.get(partition)
    if (!range) return undefined
    const asked = memory.positions.get(topic, partition)
    if (asked === wantedOffset) return new OffsetOutOfLogError(topic, partition, wantedOffset, range)
    if (asked !== undefined) return undefined
    logger.warn(
      { topic, partition, wantedOffset, ...range },
      'the group stands outside the log; reading from its start',
    )
    memory.positions.set(topic, partition, range.start)
    return undefined
  }

  return async (error: Error): Promise<Error | undefined> => {
    const range = outOfRange(error)
    if (range) return judgeRange(range)
    if (isFatal(error)) return error
    if (!isUnknownTopic(error)) {
      topicMissingSince = undefined
      return undefined
    }
    topicMissingSince ??= Date.now()
    if (Date.now() - topicMissingSince < topicMissingMs) return undefined
    const known = await describeTopics(connection, topics).catch(() => undefined)
    return known && new TopicMissingError(topics.filter(topic => !known.has(topic)))
  }
}
