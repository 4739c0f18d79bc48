import type { EventId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { Effects, EventEffect } from '@tally/projection'
import { areaOf, type Unpublished } from '@tally/read-models'
import { openBacklog } from './backlog.ts'
import { findMissing, type Missing, type MissingDeps } from './missing.ts'
import type { Pending } from './pending.ts'
import { openPublication, type PublicationDeps } from './publication.ts'
import { openDrain, openFlush } from './runs.ts'
import { openSchedule } from './schedule.ts'
import { openSequence } from './sequence.ts'

/** If `heal` finds more events than this, they go to the backlog, so that live figures do not wait for them. */
const fewEvents = 20

/**
 * Publishes to Redis what was committed to Postgres. Redis is disposable (docs/architecture.md, invariant 4): what it
 * lacks is known here (`add`) or detected (`heal`, `again`). Flushes never overlap; what is added during a flush is
 * composed once, by the next one.
 */
export type Publisher = {
  /** Adds what a committed batch changed; if the partition is behind, it is held back for up to 2 s. */
  add(of: TopicPartition, effects: Effects, lag?: { isBehind: boolean }): void
  /**
   * Adds events and organizations whose documents in Redis are old or missing. They are published whole, after
   * everything new. What is already pending is left out.
   */
  again(what: Partial<Pick<Pending, 'organizations'>> & { events?: Iterable<EventId> }): void
  /** Publishes everything that is due. Throws if Redis or Postgres does not answer; everything then stays pending. */
  flush(): Promise<void>
  /**
   * Publishes the backlog piece by piece, each between two flushes, until it is empty or `isStopping`. Throws like
   * `flush`.
   */
  drain(isStopping?: () => boolean): Promise<void>
  /** Whether anything of the partition committed up to `revision` is held back. */
  holdsBack(of: TopicPartition, revision: number): boolean
  /**
   * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres, and adds everything that
   * Redis lacks, apart from the documents of quiet events. Returns false if nothing is missing. Read `storedRevision`
   * before the last flush, and call this only if nothing of the partition is held back.
   */
  heal(of: TopicPartition, storedRevision: number): Promise<boolean>
}

export type PublisherDeps = PublicationDeps &
  MissingDeps & {
    /** Called with the duration of each flush that had something to publish. */
    onPublished?: (tookMs: number) => void
  }

/**
 * What has to be published waits in one of two places:
 *
 * - The schedule has what is new: due at once, or held back while its partition is behind. `flush` publishes what is
 *   due.
 * - The backlog has what Redis lost. `drain` publishes it piece by piece, with a flush after each piece.
 *
 * Flushes and pieces run in one sequence, because two concurrent publications would compose the same documents twice.
 */
export function openPublisher(deps: PublisherDeps): Publisher {
  const schedule = openSchedule()
  const backlog = openBacklog()
  const runs = { schedule, backlog, sequence: openSequence(), publish: openPublication(deps) }
  const flush = openFlush(runs, deps.onPublished ?? (() => {}))
  const drain = openDrain(runs, flush)

  return {
    add(of, effects, { isBehind } = { isBehind: false }) {
      if (effects.revision !== undefined)
        addBatch(schedule.forBatch(of, isBehind), of, effects, effects.revision)
    },

    again({ events = [], organizations = [] }) {
      const pending = schedule.all()
      backlog.add({
        events: [...events].filter(id => !pending.some(one => one.events.has(id))),
        organizations: [...organizations].filter(id => !pending.some(one => one.organizations.has(id))),
      })
    },

    flush,

    drain: (isStopping = () => false) => drain(isStopping),

    holdsBack(of, revision) {
      const mark = schedule.heldBack(of)?.marks.get(partitionKey(of))
      return backlog.holds(of) || (mark !== undefined && mark.since < revision)
    },

    async heal(of, storedRevision) {
      const missing = await findMissing(deps, of, storedRevision)
      if (missing === undefined) return false
      const { events, organizations, quiet } = missing
      if (events.length + organizations.length > fewEvents || quiet.length > 0) backlog.add(missing)
      else addMissing(schedule.due(), missing)
      return true
    },
  }
}

function addMissing(pending: Pending, { events, organizations, mark }: Missing): void {
  for (const id of events) pending.addEvent(id, { whole: true })
  for (const id of organizations) pending.addOrganization(id)
  pending.addMark(mark)
}

/** Copies topic and partition: a reference to the batch would keep everything that was fetched with it in memory. */
function addBatch(
  pending: Pending,
  { topic, partition }: TopicPartition,
  { since, events, organizations }: Effects,
  revision: number,
): void {
  for (const [id, effect] of events) pending.addEvent(id, unpublished(effect, revision))
  for (const id of organizations) pending.addOrganization(id)
  pending.addMark({ topic, partition, since, revision })
}

function unpublished({ before, areas, event }: EventEffect, revision: number): Unpublished {
  if (areas === 'all') return { whole: true }
  const byKey = new Map(areas.map(area => [areaOf(area.dayId, area.areaId), area]))
  return { whole: false, since: before, to: revision, areas: byKey, event }
}
