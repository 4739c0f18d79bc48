import type { EventId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { Unpublished } from '@tally/read-models'
import { openPending, type Pending } from './pending.ts'

/** How long documents of a partition that is behind may wait: they are composed once for many batches. */
const heldMs = 2_000

/**
 * When pending publications are due. What a partition that is behind has changed is held back, apart from all others,
 * until a batch of it catches up or 2 s have passed. Everything else is due at once.
 */
export type Schedule = {
  /** Where to add what a batch of the partition changed; if it has caught up, what was held back becomes due. */
  forBatch(of: TopicPartition, isBehind: boolean): Pending
  /** What is due: where to add what must not wait. */
  due(): Pending
  /** Takes everything that is due by now. */
  take(): Pending
  /**
   * Moves what has become due of an event, if it continues what `taken` has of it, to `taken`, and returns both as one:
   * otherwise the event has changed since, and would have to be published whole.
   */
  takeMore(taken: Pending, id: EventId): Unpublished | undefined
  /** Takes back what could not be published; it is due again. */
  putBack(taken: Pending): void
  /** What is held back of a partition. */
  heldBack(of: TopicPartition): Pending | undefined
  /** Everything that is due or held back. */
  all(): Pending[]
}

export function openSchedule(): Schedule {
  let due = openPending()
  const held = new Map<string, { pending: Pending; sinceMs: number }>()

  const hold = (key: string): Pending => {
    const entry = held.get(key) ?? { pending: openPending(), sinceMs: performance.now() }
    held.set(key, entry)
    return entry.pending
  }

  const release = (key: string): Pending => {
    const entry = held.get(key)
    held.delete(key)
    if (entry !== undefined) due.addAll(entry.pending)
    return due
  }

  return {
    forBatch: (of, isBehind) => (isBehind ? hold(partitionKey(of)) : release(partitionKey(of))),
    due: () => due,
    take() {
      const now = performance.now()
      for (const [key, { sinceMs }] of [...held]) if (now - sinceMs >= heldMs) release(key)
      const taken = due
      due = openPending()
      return taken
    },
    takeMore(taken, id) {
      const [entry, more] = [taken.events.get(id), due.events.get(id)]
      if (entry === undefined || entry.whole || more === undefined || more.whole || more.since !== entry.to)
        return undefined
      due.events.delete(id)
      taken.addEvent(id, more)
      return taken.events.get(id)
    },
    putBack(taken) {
      taken.addAll(due)
      due = taken
    },
    heldBack: of => held.get(partitionKey(of))?.pending,
    all: () => [due, ...[...held.values()].map(({ pending }) => pending)],
  }
}
