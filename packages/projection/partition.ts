export type Partition = { topic: string; partition: number }

/** The key of a partition in maps. */
export const keyOf = ({ topic, partition }: Partition): string => `${topic}:${partition}`
