/** The topics that the feed writes, without their prefix (docs/records.md, Topics). */
export const feedTopics = ['organizations', 'events', 'orders', 'refunds'] as const
export type FeedTopic = (typeof feedTopics)[number]

/** How far a simulation has come: the evening, counted from 0, and how many of its records. */
export type Position = { evening: number; records: number }

/**
 * One record to be sent. `atMs` is its own time (milliseconds since 1970); with null it is sent with the record before
 * it. `value` is the text that is sent. A simulated record has the position of the run after it.
 */
export type FeedRecord = {
  atMs: number | null
  topic: FeedTopic
  key: string | null
  value: string | null
  position?: Position
}

/** A record as the producer of packages/kafka takes it, with the whole name of its topic. */
export type TopicRecord = { topic: string; key: string | null; value: string | null }

/** Where records come from: a file or a simulated evening. */
export type FeedSource = {
  records: Iterable<FeedRecord> | AsyncIterable<FeedRecord>
  /** How much of the source has been read, 0 to 1; for an endless feed, of the current evening. */
  share: () => number
}
