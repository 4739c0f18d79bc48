import {
  type Postgres,
  publishedField,
  publishEvents,
  publishOrganizations,
  type RedisClient,
  type RedisKeys,
  readEventsSince,
  readOrganizationsSince,
  type Unpublished,
} from '@tally/read-models'
import type { Effects, EventEffect } from './effects.ts'
import { keyOf, type Notes, openNotes, type Partition } from './unpublishedNotes.ts'

export type { Partition }

/** How long documents of a partition that is behind may wait: they are composed once for many batches. */
const lateMs = 2_000

/**
 * Brings what was committed to Redis. Redis is disposable (design.md, invariant 4): what it misses is known here
 * (`add`) or found out (`heal`), and is tried again by the next flush. Flushes never overlap; what comes in
 * meanwhile is composed once by the next one.
 */
export type Publisher = {
  /** Notes what a committed batch changed; of a partition that is behind it is held back for up to 2 s. */
  add(of: Partition, effects: Effects, lag?: { isBehind: boolean }): void
  /** Publishes everything noted that is due; throws where Redis or Postgres does not answer, and keeps it noted. */
  flush(): Promise<void>
  /** Whether something of the partition is held back that was committed up to `revision`. */
  holdsBack(of: Partition, revision: number): boolean
  /**
   * Compares the mark that Redis keeps of a partition with Postgres (`storedRevision`, read before the last
   * flush) and notes everything that Redis does not have; false where nothing is missing.
   */
  heal(of: Partition, storedRevision: number): Promise<boolean>
}

export function openPublisher(parts: {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  /** Hears how long a flush took that had something to publish. */
  onPublished?: (tookMs: number) => void
}): Publisher {
  const { db, redis, keys, onPublished = () => {} } = parts
  let due = openNotes()
  const late = new Map<string, { notes: Notes; of: Partition; sinceMs: number }>()
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  const hold = (of: Partition): Notes => {
    const held = late.get(keyOf(of)) ?? { notes: openNotes(), of, sinceMs: performance.now() }
    late.set(keyOf(of), held)
    return held.notes
  }

  const release = (of: Partition): Notes => {
    const held = late.get(keyOf(of))
    late.delete(keyOf(of))
    if (held !== undefined) due.addAll(held.notes)
    return due
  }

  const flushOnce = async () => {
    const now = performance.now()
    for (const { of, sinceMs } of [...late.values()]) if (now - sinceMs >= lateMs) release(of)
    const taken = due
    due = openNotes()
    if (taken.isEmpty()) return
    const began = performance.now()
    try {
      await publishOrganizations(parts, taken.organizations)
      await publishEvents(parts, taken.events)
      await Promise.all(
        [...taken.marks.values()].map(({ topic, partition, since, revision }) =>
          redis.advance(keys.shard(partition), publishedField(topic), since, revision),
        ),
      )
      onPublished(performance.now() - began)
    } catch (error) {
      taken.addAll(due)
      due = taken
      throw error
    }
  }

  return {
    add(
      { topic, partition },
      { revision, since, events, organizations },
      { isBehind } = { isBehind: false },
    ) {
      if (revision === undefined) return
      // Not what came in, which may be the whole batch: notes would keep its records, and all that was fetched with them.
      const of = { topic, partition }
      const notes = isBehind ? hold(of) : release(of)
      for (const [id, effect] of events) notes.addEvent(id, unpublished(effect, revision))
      for (const id of organizations) notes.addOrganization(id)
      notes.addMark({ ...of, since, revision })
    },

    flush() {
      waiting ??= running
        .catch(() => undefined)
        .then(() => {
          waiting = undefined
          running = flushOnce()
          return running
        })
      return waiting
    },

    holdsBack(of, revision) {
      const mark = late.get(keyOf(of))?.notes.marks.get(keyOf(of))
      return mark !== undefined && mark.since < revision
    },

    async heal(of, storedRevision) {
      const published = Number((await redis.hget(keys.shard(of.partition), publishedField(of.topic))) ?? 0)
      if (published >= storedRevision) return false
      for (const id of await readEventsSince(db, of.partition, published)) due.addEvent(id, { whole: true })
      for (const id of await readOrganizationsSince(db, published)) due.addOrganization(id)
      due.addMark({ ...of, since: published, revision: storedRevision })
      return true
    },
  }
}

function unpublished({ before, areas, event }: EventEffect, revision: number): Unpublished {
  if (areas === 'all') return { whole: true }
  const byKey = new Map(areas.map(area => [`${area.dayId}:${area.areaId}`, area]))
  return { whole: false, since: before, to: revision, areas: byKey, event }
}
