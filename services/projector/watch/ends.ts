import { describeTopics, type KafkaConnection, logEnds, type TopicPartition } from '@tally/kafka'
import type { Logs } from '../logs/logs.ts'
import type { ProjectorMetrics } from '../metrics.ts'
import type { AsOf } from './asOf.ts'

/**
 * Notes the current ends of the assigned partitions for `atMs`, a past time of the database's clock. A partition that
 * was added and that no projector reads yet (`isStored`) may hold records of any event: until then nothing is noted,
 * and `asOf` stands still. Returns how many partitions each topic has.
 */
export async function noteEnds(
  {
    kafka,
    asOf,
    topics,
    logs,
    metrics,
  }: {
    kafka: KafkaConnection
    asOf: AsOf
    topics: string[]
    logs: Pick<Logs, 'isSound'>
    metrics: ProjectorMetrics
  },
  {
    assigned,
    isStored,
    atMs,
  }: { assigned: TopicPartition[]; isStored: (of: TopicPartition) => boolean; atMs: number },
): Promise<Map<string, number>> {
  const [counts, ends] = await Promise.all([describeTopics(kafka, topics), logEnds(kafka, assigned)])
  const isAllRead = [...counts].every(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => isStored({ topic, partition })).every(Boolean),
  )
  const noted = assigned.flatMap(({ topic, partition }) => {
    const log = ends.get(topic)?.get(partition)
    if (log === undefined || !logs.isSound({ topic, partition }, log)) return []
    return [{ topic, partition, end: log.end, atMs }]
  })
  if (isAllRead) asOf.noteEnds(noted)
  for (const { topic, partition, end } of noted) {
    const lag = Math.max(0, end - (asOf.appliedOf({ topic, partition }) ?? 0))
    metrics.lag.set({ topic, partition }, lag)
  }
  return counts
}
