import { type FeedTopic, feedTopics } from './record.ts'

/** A record as a line of a file has it: the topic without its prefix, and the fields that are there. */
export type RecordLine = { topic: FeedTopic; key: unknown; value: unknown; partition: unknown }

/** The rule for `topic`, for messages. */
export const topicRule = `must be one of ${feedTopics.join(', ')}, with any prefix`

/**
 * Reads what `tally feed --data` and `tally records check` take: `topic` with any prefix or none, `key`, and `value`,
 * or `payload` in its place, as `kcat -J` prints it. Undefined if the topic is none of Tally's.
 */
export function recordLineOf(json: Record<string, unknown>): RecordLine | undefined {
  const { topic: name, key, partition } = json
  const topic = feedTopics.find(topic => name === topic || String(name).endsWith(`.${topic}`))
  if (topic === undefined) return undefined
  return { topic, key, value: 'value' in json ? json.value : json.payload, partition }
}
