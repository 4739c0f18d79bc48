/** Apart from all else of this package, because a query process needs the names and no client of Kafka. */
export type TopicNames = {
  organizations: string
  events: string
  orders: string
  refunds: string
  deadLetters: string
}

/** Names of Tally's topics under a prefix (setting TOPIC_PREFIX; docs/records.md, Topics). */
export function topicNames(prefix: string): TopicNames {
  return {
    organizations: `${prefix}.organizations`,
    events: `${prefix}.events`,
    orders: `${prefix}.orders`,
    refunds: `${prefix}.refunds`,
    deadLetters: `${prefix}.dead-letters`,
  }
}

/** The topics that a projector reads, by name, with the type of their records. */
export function recordTopics({ deadLetters: _, ...read }: TopicNames): Map<string, keyof typeof read> {
  return new Map(Object.entries(read).map(([type, topic]) => [topic, type as keyof typeof read]))
}
