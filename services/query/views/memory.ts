import type { EventId } from '@tally/contract'
import { LRUCache } from 'lru-cache'
import type { Head, Read } from './fromRedis.ts'

/** Events that a process remembers at their last revision, and how many entries of their menus, days and areas. */
const rememberedEvents = 2_000
const rememberedEntries = 100_000

/** `epoch`: in which the watermark was told. */
type Remembered = { head: Head; asOfMs: number | null; epoch: number }
/** What was remembered at one moment; compared by identity. */
export type Before = Remembered | undefined

/**
 * What this process last said of each event, so that a Redis that came back from an older state does not take answers back.
 * It guards reads of Redis only. What Postgres says is the truth, also when it is less: Postgres may have lost commits, and
 * an answer that claims what was said before would claim too much.
 */
export type Memory = {
  head(id: EventId): Head | undefined
  /** Take it before a read of Postgres, and hand it to `reset` or `raise` with what was read. */
  now(id: EventId): Before
  /** Whether a read of Redis says less than was said before. */
  isAhead(read: Read): boolean
  /** Keeps what Redis said; not behind what was said. */
  keep(read: Read): void
  /** Keeps what Postgres said, unless a newer read came meanwhile: then of both the later. */
  reset(read: Read, before: Before): void
  /**
   * The watermark to say of a read of Redis while Postgres cannot be asked: that of the read, or what was said before if the
   * documents are at least as new as what it was said of, and Postgres lost no commits in between.
   */
  sayable(read: Read): number | null
  /** As reset, of a read that brought the watermark only. */
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
