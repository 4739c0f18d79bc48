import type { EventId, OrganizationId } from '@tally/contract'
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

export type Partition = { topic: string; partition: number }

/**
 * Brings what was committed to Redis. Redis is disposable (design.md, invariant 4): what it misses is known here
 * (`add`) or found out (`heal`), and is tried again by the next flush. Flushes never overlap; what comes in
 * meanwhile is composed once by the next one, so that a projector that is behind does not compose every batch.
 */
export type Publisher = {
  /** Notes what a committed batch changed. */
  add(of: Partition, effects: Effects): void
  /** Publishes everything noted so far; throws where Redis or Postgres does not answer, and keeps it noted. */
  flush(): Promise<void>
  /**
   * Compares the mark that Redis keeps of a partition with Postgres (`storedRevision`, read before the last
   * flush) and notes everything that Redis does not have; false where nothing is missing.
   */
  heal(of: Partition, storedRevision: number): Promise<boolean>
}

/** Everything that changed after revision `since`, up to `revision`. */
type Published = { since: number; revision: number }

export function openPublisher(parts: {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  /** Hears how long a flush took that had something to publish. */
  onPublished?: (tookMs: number) => void
}): Publisher {
  const { db, redis, keys, onPublished = () => {} } = parts
  let events = new Map<EventId, Unpublished>()
  let organizations = new Set<OrganizationId>()
  let marks = new Map<string, Partition & Published>()
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  const note = (id: EventId, entry: Unpublished) => events.set(id, join(events.get(id), entry))
  const mark = ({ topic, partition }: Partition, published: Published) => {
    const key = `${topic}:${partition}`
    marks.set(key, { topic, partition, ...joinPublished(marks.get(key), published) })
  }

  const flushOnce = async () => {
    const taken = { events, organizations, marks }
    events = new Map()
    organizations = new Set()
    marks = new Map()
    if (taken.events.size === 0 && taken.organizations.size === 0 && taken.marks.size === 0) return
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
      for (const [id, newer] of events) taken.events.set(id, join(taken.events.get(id), newer))
      events = taken.events
      for (const id of taken.organizations) organizations.add(id)
      for (const unpublishedMark of taken.marks.values()) mark(unpublishedMark, unpublishedMark)
      throw error
    }
  }

  return {
    add(of, { revision, since, events: changed, organizations: changedOrganizations }) {
      if (revision === undefined) return
      for (const [id, effect] of changed) note(id, unpublished(effect, revision))
      for (const id of changedOrganizations) organizations.add(id)
      mark(of, { since, revision })
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

    async heal(of, storedRevision) {
      const published = Number((await redis.hget(keys.shard(of.partition), publishedField(of.topic))) ?? 0)
      if (published >= storedRevision) return false
      for (const id of await readEventsSince(db, of.partition, published)) note(id, { whole: true })
      for (const id of await readOrganizationsSince(db, published)) organizations.add(id)
      mark(of, { since: published, revision: storedRevision })
      return true
    },
  }
}

function unpublished({ before, areas, event }: EventEffect, revision: number): Unpublished {
  if (areas === 'all') return { whole: true }
  const byKey = new Map(areas.map(area => [`${area.dayId}:${area.areaId}`, area]))
  return { whole: false, since: before, to: revision, areas: byKey, event }
}

/** Two differences make one where the later begins at the revision at which the earlier ends. */
function join(earlier: Unpublished | undefined, later: Unpublished): Unpublished {
  if (earlier === undefined) return later
  if (earlier.whole || later.whole || earlier.to !== later.since) return { whole: true }
  return {
    whole: false,
    since: earlier.since,
    to: later.to,
    areas: new Map([...earlier.areas, ...later.areas]),
    event: earlier.event || later.event,
  }
}

/** Two spans make one where they touch; else the later stays, and heal finds what lies before it. */
function joinPublished(one: Published | undefined, other: Published): Published {
  if (one === undefined) return other
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (later.since > earlier.revision) return { since: later.since, revision: later.revision }
  return { since: earlier.since, revision: Math.max(earlier.revision, later.revision) }
}
