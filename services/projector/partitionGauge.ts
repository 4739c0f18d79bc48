import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { MetricName, Metrics } from '@tally/platform'

type PartitionGauge = {
  set(of: TopicPartition, value: number): void
  /** Forgets partitions that now belong to others: their last value would stay for as long as the process runs. */
  keep(assigned: TopicPartition[]): void
}

/**
 * A metric with a value for each partition that this projector reads. `current` gives the value to export from the last
 * one that was set and the seconds since then.
 */
export function partitionGauge(
  metrics: Metrics,
  name: MetricName,
  current: (value: number, seconds: number) => number = value => value,
): PartitionGauge {
  const known = new Map<string, { of: TopicPartition; value: number; setMs: number }>()
  metrics.gauge(name, ['topic', 'partition'], gauge => {
    gauge.reset()
    for (const { of, value, setMs } of known.values()) {
      const seconds = (performance.now() - setMs) / 1000
      gauge.set({ topic: of.topic, partition: String(of.partition) }, current(value, seconds))
    }
  })
  return {
    set: (of, value) => void known.set(partitionKey(of), { of, value, setMs: performance.now() }),
    keep(assigned) {
      const mine = new Set(assigned.map(partitionKey))
      for (const key of [...known.keys()].filter(key => !mine.has(key))) known.delete(key)
    },
  }
}
