import type { EventId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { Effects, EventEffect } from '@tally/projection'
import {
  eventRevisionField,
  openEpochs,
  type Published,
  publishEvents,
  publishedField,
  publishOrganizations,
  type ReadModelRedis,
  type RedisKeys,
  readEpoch,
  readEventsSince,
  readOffsets,
  readOrganizationsSince,
  type Unpublished,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { openBacklog, type Piece } from './backlog.ts'
import { type Mark, openPending, type Pending } from './pending.ts'

/** How long documents of a partition that is behind may wait: they are composed once for many batches. */
const lateMs = 2_000
/** If `heal` finds more events than this, they go to the backlog, so that live figures do not wait for them. */
const fewEvents = 20

/**
 * Publishes what was committed to Redis. Redis is disposable (docs/architecture.md, invariant 4): what it misses is known here
 * (`add`) or detected (`heal`, `again`), and the next flush tries it again. Flushes never overlap; what is added
 * meanwhile is composed once by the next one.
 */
export type Publisher = {
  /** Takes what a committed batch changed; if the partition is behind, holds it back for up to 2 s. */
  add(of: TopicPartition, effects: Effects, lag?: { isBehind: boolean }): void
  /**
   * Takes events and organizations whose documents in Redis are old or missing; they are published whole, after
   * everything new. Leaves out what is pending anyway.
   */
  again(what: Partial<Pick<Pending, 'organizations'>> & { events?: Iterable<EventId> }): void
  /** Publishes everything pending that is due; throws if Redis or Postgres does not answer, and keeps it pending. */
  flush(): Promise<void>
  /**
   * Publishes the backlog piece by piece, each between two flushes, until it is empty or `isStopping`; throws as
   * `flush` does.
   */
  drain(isStopping?: () => boolean): Promise<void>
  /** Whether anything of the partition committed up to `revision` is held back. */
  holdsBack(of: TopicPartition, revision: number): boolean
  /**
   * Compares a partition's mark in Redis with Postgres (`storedRevision`, read before the last flush; nothing of the
   * partition may be held back) and takes everything that Redis lacks; false if nothing is missing.
   */
  heal(of: TopicPartition, storedRevision: number): Promise<boolean>
}

export function openPublisher(deps: {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  /** The topic of organizations: its reader publishes all of them when Redis has lost its data. */
  organizationsTopic?: string
  /** Called with the duration of each flush that had something to publish. */
  onPublished?: (tookMs: number) => void
  /** Called when documents of a new epoch were published. */
  onNewEpoch?: () => void
}): Publisher {
  const { db, redis, keys, organizationsTopic, onPublished = () => {}, onNewEpoch = () => {} } = deps
  let due = openPending()
  const late = new Map<string, { pending: Pending; of: TopicPartition; sinceMs: number }>()
  const backlog = openBacklog()
  let isNewEpoch = false
  const epochs = openEpochs(deps, () => {
    isNewEpoch = true
  })
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let draining: Promise<void> | undefined

  const hold = (of: TopicPartition): Pending => {
    const held = late.get(partitionKey(of)) ?? { pending: openPending(), of, sinceMs: performance.now() }
    late.set(partitionKey(of), held)
    return held.pending
  }

  const release = (of: TopicPartition): Pending => {
    const held = late.get(partitionKey(of))
    late.delete(partitionKey(of))
    if (held !== undefined) due.addAll(held.pending)
    return due
  }

  /** Returns the published events; `noted`: earlier ones that the marks cover as well. */
  const publish = async (
    { organizations, events, marks }: Pending,
    noted: Published['events'] = [],
  ): Promise<Published['events']> => {
    await publishOrganizations(deps, organizations)
    const published = await publishEvents({ ...deps, epochs }, events)
    const epoch = published.epoch ?? (await readEpoch(db))
    if (epoch !== null) await advance(epoch, [...marks.values()], [...noted, ...published.events])
    if (isNewEpoch) onNewEpoch()
    isNewEpoch = false
    return published.events
  }

  /** Called after the documents are in Redis: stores their revisions and the marks of each shard, in one step. */
  const advance = async (epoch: number, marks: Mark[], published: Published['events']): Promise<void> => {
    const shards = new Set([
      ...marks.map(({ partition }) => partition),
      ...published.map(({ shard }) => shard),
    ])
    await Promise.all(
      [...shards].map(shard => {
        const ofShard = marks.filter(({ partition }) => partition === shard)
        const events = published.filter(event => event.shard === shard)
        return redis.advance(
          keys.shard(shard),
          epoch,
          ofShard.length,
          ...ofShard.flatMap(({ topic, since, revision }) => [publishedField(topic), since, revision]),
          ...events.flatMap(({ eventId, revision }) => [eventRevisionField(eventId), revision]),
        )
      }),
    )
  }

  const flushOnce = async () => {
    const now = performance.now()
    for (const { of, sinceMs } of [...late.values()]) if (now - sinceMs >= lateMs) release(of)
    const taken = due
    due = openPending()
    if (taken.isEmpty()) return
    const began = performance.now()
    try {
      const published = await publish(taken)
      backlog.extend(taken.marks.values(), published)
      onPublished(performance.now() - began)
    } catch (error) {
      taken.addAll(due)
      due = taken
      throw error
    }
  }

  const pieceOnce = async ({ pending, noted, done }: Piece) => done(await publish(pending, noted))

  /** One at a time: two concurrent publications would compose the same documents twice. */
  const next = (work: () => Promise<void>): Promise<void> => {
    running = running.catch(() => undefined).then(work)
    return running
  }

  const drainOnce = async (isStopping: () => boolean) => {
    for (let isLeft = true; isLeft && !isStopping(); ) {
      await next(async () => {
        // Only now: the flush before may have extended its mark.
        const piece = backlog.next()
        isLeft = piece !== undefined
        if (piece !== undefined) await pieceOnce(piece)
      })
      if (isLeft) await publisher.flush()
    }
  }

  const publisher: Publisher = {
    add(
      { topic, partition },
      { revision, since, events, organizations },
      { isBehind } = { isBehind: false },
    ) {
      if (revision === undefined) return
      // Not the batch itself, which would keep its records and everything fetched with them in memory.
      const of = { topic, partition }
      const pending = isBehind ? hold(of) : release(of)
      for (const [id, effect] of events) pending.addEvent(id, unpublished(effect, revision))
      for (const id of organizations) pending.addOrganization(id)
      pending.addMark({ ...of, since, revision })
    },

    again({ events = [], organizations = [] }) {
      const pending = [due, ...[...late.values()].map(held => held.pending)]
      backlog.add({
        events: [...events].filter(id => !pending.some(one => one.events.has(id))),
        organizations: [...organizations].filter(id => !pending.some(one => one.organizations.has(id))),
      })
    },

    flush() {
      waiting ??= running
        .catch(() => undefined)
        .then(() => {
          waiting = undefined
          return next(flushOnce)
        })
      return waiting
    },

    drain(isStopping = () => false) {
      draining ??= drainOnce(isStopping).finally(() => {
        draining = undefined
      })
      return draining
    },

    holdsBack(of, revision) {
      if (backlog.holds(of)) return true
      const mark = late.get(partitionKey(of))?.pending.marks.get(partitionKey(of))
      return mark !== undefined && mark.since < revision
    },

    async heal(of, storedRevision) {
      const mark = await redis.hget(keys.shard(of.partition), publishedField(of.topic))
      const published = Number(mark ?? 0)
      if (published >= storedRevision) return false
      // As of now: the marks of batches that come from here on touch it, and extend it in the backlog.
      const now = (await readOffsets(db, [of.topic])).find(({ partition }) => partition === of.partition)
      const current = Math.max(storedRevision, now?.revision ?? 0)
      const events = await readEventsSince(db, of.partition, published)
      // Redis lost everything: only the projector that reads their topic publishes all organizations.
      const isOthers = mark === null && organizationsTopic !== undefined && of.topic !== organizationsTopic
      const organizations = isOthers ? [] : await readOrganizationsSince(db, published)
      const found = { events, organizations, mark: { ...of, since: published, revision: current } }
      if (events.length + organizations.length > fewEvents) backlog.add(found)
      else {
        for (const id of events) due.addEvent(id, { whole: true })
        for (const id of organizations) due.addOrganization(id)
        due.addMark(found.mark)
      }
      return true
    },
  }
  return publisher
}

function unpublished({ before, areas, event }: EventEffect, revision: number): Unpublished {
  if (areas === 'all') return { whole: true }
  const byKey = new Map(areas.map(area => [`${area.dayId}:${area.areaId}`, area]))
  return { whole: false, since: before, to: revision, areas: byKey, event }
}
