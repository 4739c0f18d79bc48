import { isFatal } from '@tally/platform'
import type { KafkaConnection } from '../client/connection.ts'
import { isUnknownTopic } from '../client/crash.ts'
import { TopicMissingError } from '../errors.ts'
import { describeTopics } from '../topics/topics.ts'

/** A topic counts as deleted once it has been missing for this long: a broker that has just started knows none. */
const topicMissingMs = 60_000

/** Returns what takes the error of a session and returns one to crash with, undefined if another may heal it. */
export function createWhyFatal(connection: KafkaConnection, topics: string[]) {
  let topicMissingSince: number | undefined
  return async (error: Error): Promise<Error | undefined> => {
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
