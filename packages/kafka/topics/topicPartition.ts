export type TopicPartition = { topic: string; partition: number }

/** The key of a partition in maps. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}:${partition}`
