export type Partition = { topic: string; partition: number }
export const keyOf = ({ topic, partition }: Partition): string => `${topic}:${partition}`
