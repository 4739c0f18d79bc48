import { describeTopics, type KafkaConnection, logEnds } from '@tally/kafka'
import type { AsOf } from './asOf.ts'
import type { ProjectorMetrics } from './metrics.ts'
import type { Partition } from './publisher.ts'

/**
 * Notes the ends of the assigned partitions as they are at `atMs`, a moment of the database's clock that has passed.
 * While a partition that was added is read by nobody yet (`isStored`), it may hold records of any event: nothing is noted,
 * and `asOf` stands still. Returns how many partitions each topic has.
 */
export async function noteEnds(
  {
    kafka,
    asOf,
    topics,
    isSound,
    metrics,
  }: {
    kafka: KafkaConnection
    asOf: AsOf
    topics: string[]
    /** Whether the log that was asked for its end is the one that the partition is applied from. */
    isSound: (of: Partition, log: { topicId?: string }) => boolean
    metrics: ProjectorMetrics
  },
  { assigned, isStored, atMs }: { assigned: Partition[]; isStored: (of: Partition) => boolean; atMs: number },
): Promise<Map<string, number>> {
  const counts = await describeTopics(kafka, topics)
  const ends = await logEnds(kafka, assigned)
  const isAllRead = [...counts].every(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => isStored({ topic, partition })).every(Boolean),
  )
  const marks = assigned.flatMap(({ topic, partition }) => {
    const log = ends.get(topic)?.get(partition)
    if (log === undefined || !isSound({ topic, partition }, log)) return []
    return [{ topic, partition, end: log.end, atMs }]
  })
  if (isAllRead) asOf.mark(marks)
  for (const { topic, partition, end } of marks) {
    const lag = Math.max(0, end - (asOf.appliedOf({ topic, partition }) ?? 0))
    metrics.lag.set({ topic, partition: String(partition) }, lag)
  }
  return counts
}
