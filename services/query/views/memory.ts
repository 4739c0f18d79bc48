import type { EventId } from '@tally/contract'
import { fitsShard, isBehind, type LastAnswer, nextAnswer, type ReadVersion } from '@tally/publication'
import type { Head, KnownHead, KnownRead, Read, Seen } from '@tally/views'
import { LRUCache } from 'lru-cache'
import type { Breaker } from '../redis/breaker.ts'
import type { EventRef } from './question.ts'
import type { Watermarks } from './watermarks.ts'

/** Of how many events a process remembers what it answered; about 400 bytes each. */
const rememberedEvents = 20_000
/** After how many new watermarks a confirmed event counts as used: a few seconds. */
const touchEvery = 8
/** How many entries of menus, days and areas it keeps of the records of events; about 150 bytes each. */
const rememberedEntries = 100_000
/** An id that Postgres does not know costs a query per second; a new event is found within 1 s all the same. */
const unknownMs = 800
const rememberedUnknown = 20_000

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
  /** The event's record as it was last kept: at the revision that was last answered, or an earlier one. */
  head(id: EventId): Head | undefined
  /** Call it before a read of Postgres, and pass the result to `reset` with what was read. */
  now(id: EventId): Before
  /** Whether Postgres was asked less than 800 ms ago, and did not have this event for this organization. */
  isUnknown(event: EventRef): boolean
  /** Notes that Postgres did not have it when it was asked, at this time of `performance.now`. */
  noteUnknown(event: EventRef, askedMs: number): void
  /** Whether an earlier answer is newer than a read of Redis. */
  isAheadOf(read: KnownRead): boolean
  /** Whether a read is as new as it should be, so far as that depends on Redis and the projector. */
  isUpdated(read: KnownRead): boolean
  /**
   * The watermark for an answer from Redis: that of the read, or the one answered before if the documents are at least
   * as new as then, Postgres lost no commits in between, and its clock has not gone back behind that watermark.
   */
  watermark(read: KnownRead): number | null
  /** Keeps a read of Redis; call it only if `isAheadOf` is false. */
  keep(read: Read): void
  /**
   * Whether remembered answers about an event still hold: the revision of those that do and the watermark that they go
   * out with, from what one request batch read of the shard's hash and of the event's (without their documents).
   * Undefined, and nothing is changed, if a read has to decide. `event.known` keeps what is remembered of the event, so
   * that the next confirmation does not look it up.
   */
  confirm(event: EventRef & { known?: Remembered | undefined }, seen: Seen): Confirmed | undefined
  /** Keeps a read of Postgres; if another read was kept meanwhile, the later of both. */
  reset(read: Read, before: Before): void
}

type Confirmed = { revision: number; asOfMs: number | null }

export function createMemory({
  breaker,
  watermarks,
}: {
  breaker: Pick<Breaker, 'refusesWrites'>
  watermarks: Pick<Watermarks, 'isStale' | 'isFuture'>
}): Memory {
  /** Kept of many more events than their records: devices that poll need no more. */
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

  /** Until when an organization is assumed not to have an event. */
  const unknown = new LRUCache<string, number>({ max: rememberedUnknown })

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
    const { asOfMs, epoch } = nextAnswer(saidOf(known), versionOf(read), watermarks.isFuture)
    return { asOfMs, epoch }
  }
  const isUnknown = (event: EventRef) =>
    unknown.size > 0 && performance.now() < (unknown.get(keyOf(event)) ?? 0)
  const isUpdated = ({ asOfMs, head: { event } }: KnownRead) =>
    !breaker.refusesWrites &&
    asOfMs !== null &&
    !event.isScattered &&
    !watermarks.isStale(event.shard, asOfMs)
  return {
    head: id => heads.get(id),
    now(id) {
      const known = remembered.peek(id)
      return known && { known, changes: known.changes }
    },
    isUnknown,
    noteUnknown: (event, askedMs) => void unknown.set(keyOf(event), askedMs + unknownMs),
    isAheadOf: read => isBehind(saidOf(remembered.peek(read.head.eventId)), versionOf(read)),
    isUpdated,
    watermark: read => nextOf(remembered.peek(read.head.eventId), read).asOfMs,
    keep(read) {
      putHead(read.head)
      const head = knownOf(read.head)
      put({ head, ...nextOf(remembered.peek(head.eventId), read) })
    },
    confirm(event, { shard, hash, version }) {
      if (!event.known?.isKept) event.known = remembered.get(event.eventId)
      const { known } = event
      if (known?.head.revision !== version.revision || isUnknown(event)) return undefined
      // An event that was lost may have come back through another shard: this hash then says nothing about it.
      const { head } = known
      if (head.event.shard !== shard || !fitsShard(hash, event.eventId, version)) return undefined
      const read = { head, asOfMs: hash.asOfMs, epochs: { documents: version.epoch, asOf: hash.epoch } }
      if (!isUpdated(read)) return undefined
      // Most polls of a batch find what the first of them has found.
      if (known.asOfMs !== hash.asOfMs || known.epoch !== hash.epoch) {
        if (isBehind(saidOf(known), versionOf(read))) return undefined
        replace(known, { head, ...nextOf(known, read) })
      }
      // So that an event that is polled is not evicted as one that was last used long ago.
      if (known.changes % touchEvery === 0) remembered.get(event.eventId)
      return { revision: version.revision, asOfMs: known.asOfMs }
    },
    reset({ head, asOfMs, epochs }, before) {
      const known = remembered.peek(head.eventId)
      if (known === undefined || (known === before?.known && known.changes === before.changes)) {
        putHead(head)
        return put({ head: knownOf(head), asOfMs, epoch: epochs.asOf })
      }
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
const keyOf = ({ eventId, organizationId }: EventRef) => `${organizationId}:${eventId}`

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
