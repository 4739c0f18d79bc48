import type { EventId } from '@tally/contract'
import { isBehind as isBehindLast, type LastAnswer, nextAnswer, type ReadVersion } from '@tally/publication'
import type { Head, KnownHead, KnownRead, Read } from '@tally/views'
import { LRUCache } from 'lru-cache'
import type { Watermarks } from './watermarks.ts'

/** Of how many events a process remembers what it answered; about 400 bytes each. */
const rememberedEvents = 20_000
/** After how many new watermarks a confirmed event counts as used: a few seconds. */
const touchEvery = 8
/** How many entries of menus, days and areas it keeps of the records of events; about 150 bytes each. */
const rememberedEntries = 100_000

/** `epoch`: of the watermark. `changes`: how often it was replaced in place. `isKept`: the memory still has it. */
export type Remembered = {
  head: KnownHead
  asOfMs: number | null
  epoch: number
  changes: number
  isKept: boolean
}
/** What was remembered at a time. */
type Before = { known: Remembered; changes: number } | undefined

/**
 * What this process last answered about each event, so that answers do not go back with a Redis that returned to an
 * older state. It guards reads of Redis only. Postgres is the truth, even if it says less: it may have lost commits,
 * and an answer with an earlier watermark would claim too much.
 */
export type Memory = {
  /** The event's record at the revision that was last answered. */
  head(id: EventId): Head | undefined
  /** The same without the record; kept for many more events, because devices that poll need no more. */
  known(id: EventId): Remembered | undefined
  /** Call it before a read of Postgres, and pass the result to `reset` with what was read. */
  now(id: EventId): Before
  /** Whether a read of Redis is behind an earlier answer. */
  isAhead(read: KnownRead): boolean
  /**
   * The watermark for an answer from Redis: that of the read, or the one answered before if the documents are at least
   * as new as then, Postgres lost no commits in between, and its clock has not gone back behind that watermark.
   */
  watermark(read: KnownRead): number | null
  /** Keeps a read of Redis; call it only if `isAhead` is false. */
  keep(read: Read): void
  /**
   * Keeps the watermark of a read that found the known revision, so that `known` has the one to answer with; false, and
   * nothing is changed, if the read is behind `known`. It takes `known` so that it looks nothing up.
   */
  confirm(read: KnownRead, known: Remembered): boolean
  /** Keeps a read of Postgres; if another read was kept meanwhile, the later of both. */
  reset(read: Read, before: Before): void
}

export function createMemory(isFuture: Watermarks['isFuture']): Memory {
  const remembered = new LRUCache<EventId, Remembered>({
    max: rememberedEvents,
    dispose(known) {
      known.isKept = false
    },
  })
  const heads = new LRUCache<EventId, Head>({
    maxSize: rememberedEntries,
    sizeCalculation: ({ event }) => 1 + event.menuItems.length + event.days.length + event.areas.length,
  })

  const put = (now: Replaceable) => {
    const known = remembered.get(now.head.eventId)
    if (known === undefined)
      return void remembered.set(now.head.eventId, { ...now, changes: 0, isKept: true })
    replace(known, now)
  }
  const putHead = (head: Head) => {
    if (heads.get(head.eventId) !== head) heads.set(head.eventId, head)
  }
  /** The watermark for an answer from a read of Redis, with its epoch. */
  const nextOf = (known: Remembered | undefined, read: KnownRead) => {
    const { asOfMs, epoch } = nextAnswer(saidOf(known), versionOf(read), isFuture)
    return { asOfMs, epoch }
  }
  const isAhead = (read: KnownRead) => isBehind(remembered.peek(read.head.eventId), read)
  return {
    head: id => heads.get(id),
    known: id => remembered.get(id),
    now(id) {
      const known = remembered.peek(id)
      return known && { known, changes: known.changes }
    },
    isAhead,
    watermark: read => nextOf(remembered.peek(read.head.eventId), read).asOfMs,
    keep(read) {
      putHead(read.head)
      const head = knownOf(read.head)
      put({ head, ...nextOf(remembered.peek(head.eventId), read) })
    },
    confirm(read, known) {
      if (isBehind(known, read)) return false
      replace(known, { head: known.head, ...nextOf(known, read) })
      // So that an event that is polled is not evicted as one that was last used long ago.
      if (known.changes % touchEvery === 0) remembered.get(known.head.eventId)
      return true
    },
    reset({ head, asOfMs, epochs }, before) {
      const known = remembered.peek(head.eventId)
      if (known === undefined || (known === before?.known && known.changes === before.changes)) {
        putHead(head)
        return put({ head: knownOf(head), asOfMs, epoch: epochs.asOf })
      }
      if (known.head.revision <= head.revision) putHead(head)
      put({
        head: known.head.revision > head.revision ? known.head : knownOf(head),
        asOfMs: later(known.asOfMs, asOfMs),
        epoch: Math.min(known.epoch, epochs.asOf),
      })
    },
  }
}

const knownOf = ({ eventId, revision, event: { shard, isScattered } }: Head): KnownHead => ({
  eventId,
  revision,
  event: { shard, isScattered },
})
type Replaceable = Pick<Remembered, 'head' | 'asOfMs' | 'epoch'>

/** Replaces what is known of an event, unless it is the same. */
function replace(known: Remembered, { head, asOfMs, epoch }: Replaceable): void {
  if (known.head.revision === head.revision && known.asOfMs === asOfMs && known.epoch === epoch) return
  known.head = head
  known.asOfMs = asOfMs
  known.epoch = epoch
  known.changes += 1
}

const saidOf = (known: Remembered | undefined): LastAnswer | undefined =>
  known && { revision: known.head.revision, asOfMs: known.asOfMs, epoch: known.epoch }
const versionOf = ({ head: { revision }, asOfMs, epochs }: KnownRead): ReadVersion => ({
  revision,
  asOfMs,
  epochs,
})
const isBehind = (known: Remembered | undefined, read: KnownRead): boolean =>
  isBehindLast(saidOf(known), versionOf(read))

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
