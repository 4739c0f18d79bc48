import type { EventId } from '@tally/contract'
import { LRUCache } from 'lru-cache'
import type { Head, Read } from './fromRedis.ts'

/** How many events a process remembers at their last revision, and how many entries of their menus, days and areas. */
const rememberedEvents = 2_000
const rememberedEntries = 100_000

/** `epoch`: that of the watermark. */
type Remembered = { head: Head; asOfMs: number | null; epoch: number }
/** What was remembered at one time; compared by identity. */
export type Before = Remembered | undefined

/**
 * What this process last answered about each event, so that answers do not go back with a Redis that returned to an
 * older state. It guards reads of Redis only. Postgres is the truth, even if it says less: it may have lost commits,
 * and an answer with an earlier watermark would claim too much.
 */
export type Memory = {
  head(id: EventId): Head | undefined
  /** Call it before a read of Postgres, and pass the result to `reset` or `raise` with what was read. */
  now(id: EventId): Before
  /** Whether a read of Redis says less than was said before. */
  isAhead(read: Read): boolean
  /** Keeps what Redis said, unless it is behind what was said before. */
  keep(read: Read): void
  /** Keeps what Postgres said; if another read was kept meanwhile, the later of both. */
  reset(read: Read, before: Before): void
  /**
   * The watermark for an answer from Redis while Postgres is down: that of the read, or the one answered before if the
   * documents are at least as new as then and Postgres lost no commits in between.
   */
  sayable(read: Read): number | null
  /** As reset, for a read that returned only the watermark. */
  resetAsOf(id: EventId, asOfMs: number | null, before: Before): void
}

export function openMemory(): Memory {
  const remembered = new LRUCache<EventId, Remembered>({
    max: rememberedEvents,
    maxSize: rememberedEntries,
    sizeCalculation: ({ head: { event } }) =>
      1 + event.menuItems.length + event.days.length + event.areas.length,
  })

  const put = (head: Head, asOfMs: number | null, epoch: number) => {
    const known = remembered.peek(head.eventId)
    if (known?.head !== head || known.asOfMs !== asOfMs || known.epoch !== epoch)
      remembered.set(head.eventId, { head, asOfMs, epoch })
  }
  const reset: Memory['reset'] = ({ head, asOfMs, epochs: { asOf: epoch } }, before) => {
    const known = remembered.peek(head.eventId)
    if (known === undefined || known === before) return put(head, asOfMs, epoch)
    const newer = known.head.revision > head.revision ? known.head : head
    put(newer, later(known.asOfMs, asOfMs), Math.min(known.epoch, epoch))
  }

  return {
    head: id => remembered.get(id)?.head,
    now: id => remembered.peek(id),
    isAhead({ head, asOfMs }) {
      const known = remembered.peek(head.eventId)
      if (known === undefined) return false
      return head.revision < known.head.revision || (asOfMs ?? 0) < (known.asOfMs ?? 0)
    },
    keep: ({ head, asOfMs, epochs }) => put(head, asOfMs, epochs.asOf),
    sayable({ head, asOfMs, epochs }) {
      const known = remembered.peek(head.eventId)
      const holdsAll =
        known !== undefined && head.revision >= known.head.revision && epochs.documents <= known.epoch
      return holdsAll ? later(known.asOfMs, asOfMs) : asOfMs
    },
    reset,
    resetAsOf(id, asOfMs, before) {
      const known = remembered.peek(id)
      if (known === undefined) return
      const epochs = { documents: known.epoch, asOf: known.epoch }
      reset({ head: known.head, documents: new Map(), asOfMs, epochs }, before)
    },
  }
}

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
