import type { Consumer } from 'kafkajs'
import { OffsetTable } from '../log/offsetTable.ts'
import type { Assignment } from '../types.ts'
import type { Memory } from './memory.ts'
import { openPauses } from './pauses.ts'

export type Positions = ReturnType<typeof openPositions>

/** Where one kafkajs consumer reads each partition next, and which partitions it does not fetch. */
export function openPositions(consumer: Pick<Consumer, 'seek' | 'pause' | 'resume'>, memory: Memory) {
  const pauses = openPauses(consumer)
  const delays = openDelays(pauses)

  /** Number of seeks so far; a batch that was fetched before the last one is out of date. */
  const seeksOf = (topic: string, partition: number): number => memory.seeks.get(topic, partition) ?? 0

  const seek = (topic: string, partition: number, offset: number): void => {
    memory.positions.set(topic, partition, offset)
    memory.seeks.set(topic, partition, seeksOf(topic, partition) + 1)
    try {
      consumer.seek({ topic, partition, offset: String(offset) })
    } catch {
      // kafkajs throws before it has joined and after it has stopped: the next join seeks to the positions.
    }
  }

  const hold = (topic: string, partition: number): void => {
    memory.held.set(topic, partition, true)
    pauses.add(topic, partition, 'held')
  }

  const resume = (topic: string, partition: number): void => {
    memory.held.delete(topic, partition)
    memory.batchErrors.delete(topic, partition)
    // Batches fetched before the partition was held were dropped.
    const position = memory.positions.get(topic, partition)
    if (position !== undefined) seek(topic, partition, position)
    pauses.remove(topic, partition, 'held')
  }

  return {
    pauses,
    seeksOf,
    seek,
    /** Does not fetch a partition for `ms`. */
    delay: delays.begin,
    hold,
    resume,

    /** Forgets partitions that are not assigned, and seeks and holds the others again. */
    restore(assignment: Assignment): void {
      const { positions, batchErrors, failures, suspects, held, seeks } = memory
      for (const table of [positions, batchErrors, failures, suspects, held, seeks])
        table.keepOnly(assignment)
      for (const [topic, partition, offset] of positions.entries()) seek(topic, partition, offset)
      for (const [topic, partition] of held.entries()) hold(topic, partition)
    },

    /** Starts a partition where onAssigned says. */
    start(topic: string, partition: number, offset: number | 'held'): void {
      if (offset === 'held') {
        hold(topic, partition)
        return
      }
      seek(topic, partition, offset)
      if (memory.held.get(topic, partition)) resume(topic, partition)
    },

    /** Seeks back to a batch that failed, and fetches it again after `ms`. */
    retry(topic: string, partition: number, from: number, ms: number): void {
      seek(topic, partition, from)
      delays.begin(topic, partition, ms)
    },

    /** As Consumer.seek: at once, whatever failed before. */
    seekNow(topic: string, partition: number, offset: number): void {
      if (!memory.assignment.get(topic)?.includes(partition)) return
      seek(topic, partition, offset)
      memory.failures.delete(topic, partition)
      memory.batchErrors.delete(topic, partition)
      delays.end(topic, partition)
    },

    close: delays.close,
  }
}

/** Partitions that are not fetched for some time. */
function openDelays(pauses: ReturnType<typeof openPauses>) {
  const timers = new OffsetTable<NodeJS.Timeout>()
  const end = (topic: string, partition: number): void => {
    clearTimeout(timers.get(topic, partition))
    pauses.remove(topic, partition, 'retrying')
  }
  return {
    begin(topic: string, partition: number, ms: number): void {
      pauses.add(topic, partition, 'retrying')
      clearTimeout(timers.get(topic, partition))
      timers.set(
        topic,
        partition,
        setTimeout(() => end(topic, partition), ms),
      )
    },
    end,
    close(): void {
      for (const [, , timer] of timers.entries()) clearTimeout(timer)
    },
  }
}
