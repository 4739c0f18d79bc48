import type { EventId } from '@tally/contract'
import { isBehind, type LastAnswer, nextAnswer, type ReadVersion } from '@tally/read-models'
import { LRUCache } from 'lru-cache'
import type { Head, Read } from './fromRedis.ts'

/** How many events a process remembers at their last revision, and how many entries of their menus, days and areas. */
const rememberedEvents = 2_000
const rememberedEntries = 100_000

/** `epoch`: of the watermark. */
type Remembered = { head: Head; asOfMs: number | null; epoch: number }
/** What was remembered at a time; compared by identity. */
type Before = Remembered | undefined

/**
 * What this process last answered about each event, so that answers do not go back with a Redis that returned to an
 * older state. It guards reads of Redis only. Postgres is the truth, even if it says less: it may have lost commits,
 * and an answer with an earlier watermark would claim too much.
 */
export type Memory = {
  head(id: EventId): Head | undefined
  /** Call it before a read of Postgres, and pass the result to `reset` with what was read. */
  now(id: EventId): Before
  /** Whether a read of Redis is behind an earlier answer. */
  isAhead(read: Read): boolean
  /**
   * The watermark for an answer from Redis: that of the read, or the one answered before if the documents are at least
   * as new as then and Postgres lost no commits in between.
   */
  watermark(read: Read): number | null
  /** Keeps a read of Redis; call it only if `isAhead` is false. */
  keep(read: Read): void
  /** Keeps a read of Postgres; if another read was kept meanwhile, the later of both. */
  reset(read: Read, before: Before): void
}

export function openMemory(): Memory {
  const remembered = new LRUCache<EventId, Remembered>({
    max: rememberedEvents,
    maxSize: rememberedEntries,
    sizeCalculation: ({ head: { event } }) =>
      1 + event.menuItems.length + event.days.length + event.areas.length,
  })

  const put = (now: Remembered) => {
    const known = remembered.peek(now.head.eventId)
    const isSame = known?.head === now.head && known.asOfMs === now.asOfMs && known.epoch === now.epoch
    if (!isSame) remembered.set(now.head.eventId, now)
  }
  return {
    head: id => remembered.get(id)?.head,
    now: id => remembered.peek(id),
    isAhead: read => isBehind(saidOf(remembered.peek(read.head.eventId)), versionOf(read)),
    watermark: read => nextAnswer(saidOf(remembered.peek(read.head.eventId)), versionOf(read)).asOfMs,
    keep(read) {
      const { asOfMs, epoch } = nextAnswer(saidOf(remembered.peek(read.head.eventId)), versionOf(read))
      put({ head: read.head, asOfMs, epoch })
    },
    reset({ head, asOfMs, epochs }, before) {
      const known = remembered.peek(head.eventId)
      if (known === undefined || known === before) return put({ head, asOfMs, epoch: epochs.asOf })
      put({
        head: known.head.revision > head.revision ? known.head : head,
        asOfMs: later(known.asOfMs, asOfMs),
        epoch: Math.min(known.epoch, epochs.asOf),
      })
    },
  }
}

const saidOf = (known: Remembered | undefined): LastAnswer | undefined =>
  known && { revision: known.head.revision, asOfMs: known.asOfMs, epoch: known.epoch }
const versionOf = ({ head: { revision }, asOfMs, epochs }: Read): ReadVersion => ({
  revision,
  asOfMs,
  epochs,
})

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
