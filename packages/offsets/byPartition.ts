type Partition = { topic: string; partition: number }

/** For sorting rows by topic and partition: all writers lock them in this order, so that they cannot deadlock. */
export function byPartition(one: Partition, other: Partition): number {
  if (one.topic !== other.topic) return one.topic < other.topic ? -1 : 1
  return one.partition - other.partition
}
