import type { EventId } from '@tally/contract'
import { LRUCache } from 'lru-cache'
import type { Head, Read } from './fromRedis.ts'

/** How many events a process remembers at their last revision, and how many entries of their menus, days and areas. */
const rememberedEvents = 2_000
const rememberedEntries = 100_000

/**
 * What was said of an event: the revision and the watermark, and the epoch in which that was told. `head` is kept for the
 * next read of Redis; orders are read without it.
 */
type Remembered = { head: Head | undefined } & Said
export type Said = { revision: number; asOfMs: number | null; epoch: number }
/** What was remembered at one time; compared by identity. */
export type Before = Remembered | undefined

/**
 * What this process last answered about each event, so that answers do not go back with a Redis that returned to an
 * older state. It guards reads of Redis only. Postgres is the truth, even if it says less: it may have lost commits,
 * and an answer with an earlier watermark would claim too much.
 */
export type Memory = {
  head(id: EventId): Head | undefined
  /** Call it before a read of Postgres, and pass the result to `reset` or `resetSaid` with what was read. */
  now(id: EventId): Before
  /** Whether a read of Redis says less than was said before. */
  isAhead(read: Read): boolean
  /**
   * The watermark for an answer from Redis: that of the read, or the one answered before if the documents are at least as
   * new as then and Postgres lost no commits in between.
   */
  sayable(read: Read): number | null
  /** Keeps what Redis said; call it only if it is not behind what was said before. */
  keep(read: Read): void
  /** Keeps what Postgres said; if another read was kept meanwhile, the later of both. */
  reset(read: Read, before: Before): void
  /** As reset, for a read of the event's orders. */
  resetSaid(id: EventId, said: Said, before: Before): void
}

export function openMemory(): Memory {
  const remembered = new LRUCache<EventId, Remembered>({
    max: rememberedEvents,
    maxSize: rememberedEntries,
    sizeCalculation: ({ head }) =>
      1 +
      (head === undefined
        ? 0
        : head.event.menuItems.length + head.event.days.length + head.event.areas.length),
  })

  const put = (id: EventId, now: Remembered) => {
    const known = remembered.peek(id)
    const isSame =
      known?.head === now.head &&
      known?.revision === now.revision &&
      known.asOfMs === now.asOfMs &&
      known.epoch === now.epoch
    if (!isSame) remembered.set(id, now)
  }
  const resetTo = (id: EventId, now: Remembered, before: Before) => {
    const known = remembered.peek(id)
    if (known === undefined || known === before) return put(id, { ...now, head: now.head ?? known?.head })
    const newer = known.revision > now.revision ? known : now
    put(id, {
      head: newer.head ?? known.head,
      revision: newer.revision,
      asOfMs: later(known.asOfMs, now.asOfMs),
      epoch: Math.min(known.epoch, now.epoch),
    })
  }
  /** Whether the documents hold everything that they held when `known` was said. */
  const holdsAll = (known: Remembered, { head, epochs }: Read) =>
    head.revision >= known.revision && epochs.documents <= known.epoch

  return {
    head: id => remembered.get(id)?.head,
    now: id => remembered.peek(id),
    isAhead(read) {
      const known = remembered.peek(read.head.eventId)
      if (known === undefined || holdsAll(known, read)) return false
      return read.head.revision < known.revision || (read.asOfMs ?? 0) < (known.asOfMs ?? 0)
    },
    sayable(read) {
      const known = remembered.peek(read.head.eventId)
      return known !== undefined && holdsAll(known, read) ? later(known.asOfMs, read.asOfMs) : read.asOfMs
    },
    keep(read) {
      const { head, asOfMs, epochs } = read
      const known = remembered.peek(head.eventId)
      const isLater = known === undefined || (asOfMs ?? 0) >= (known.asOfMs ?? 0)
      const said = isLater || !holdsAll(known, read) ? { asOfMs, epoch: epochs.asOf } : known
      put(head.eventId, { head, revision: head.revision, asOfMs: said.asOfMs, epoch: said.epoch })
    },
    reset({ head, asOfMs, epochs }, before) {
      resetTo(head.eventId, { head, revision: head.revision, asOfMs, epoch: epochs.asOf }, before)
    },
    resetSaid: (id, said, before) => resetTo(id, { head: undefined, ...said }, before),
  }
}

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
