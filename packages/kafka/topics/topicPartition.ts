export type TopicPartition = { topic: string; partition: number }

/** The key of a partition in maps. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}:${partition}`

/** All partitions of topics with these counts of partitions. */
export const partitionsOf = (counts: Iterable<[topic: string, count: number]>): TopicPartition[] =>
  [...counts].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => ({ topic, partition })),
  )
