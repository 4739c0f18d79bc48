import type { EventId, OrganizationId } from '@tally/contract'
import { readEventsSince, readOrganizationsSince } from '@tally/figures'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import { readEpoch, readOffsets } from '@tally/offsets'
import type { Effects, EventEffect } from '@tally/projection'
import {
  areaOf,
  createEpochs,
  eventRevisionField,
  type PublishDeps,
  type Published,
  publishEvents,
  publishedField,
  publishOrganizations,
  type ReadModel,
  type Unpublished,
} from '@tally/publication'
import type { ProjectorMetrics } from '../metrics.ts'
import { Backlog, type Missing } from './backlog.ts'
import { type Mark, type Pending, Schedule, whole } from './schedule.ts'

/** If `heal` finds more events than this, they go to the backlog, so that live figures do not wait for them. */
const fewEvents = 20

export type Publisher = ReturnType<typeof createPublisher>
type PublisherDeps = PublicationDeps & {
  /** `publishSeconds`: the duration of each flush that had something to publish. */
  metrics?: Pick<ProjectorMetrics, 'publishSeconds'>
}

/**
 * Publishes to Redis what was committed to Postgres. Redis is disposable (docs/architecture.md, invariant 4): what it
 * lacks is known here (`add`) or detected (`heal`, `again`). It waits in one of two places:
 *
 * - The schedule has what is new: due at once, or held back while its partition is behind. `flush` publishes what is
 *   due.
 * - The backlog has what Redis lost. `drain` publishes it piece by piece, with a flush after each piece.
 */
export function createPublisher(deps: PublisherDeps) {
  const schedule = new Schedule()
  const backlog = new Backlog()
  return {
    ...createRuns(schedule, backlog, createPublication(deps), deps.metrics),

    /** Adds what a committed batch changed; if the partition is behind, it is held back for up to 2 s. */
    add(
      of: TopicPartition,
      { since, revision, events, organizations }: Effects,
      lag?: { isBehind: boolean },
    ) {
      if (revision === undefined) return
      const changed = [...events].map(([id, effect]) => [id, unpublished(effect, revision)] as const)
      // A copy: a reference to the batch would keep everything that was fetched with it in memory.
      const mark = { topic: of.topic, partition: of.partition, since, revision }
      schedule.forBatch(of, lag?.isBehind ?? false).add({ events: changed, organizations, marks: [mark] })
    },

    /**
     * Adds events and organizations whose documents in Redis are old or missing. They are published whole, after
     * everything new. What is already pending is left out.
     */
    again(what: { events?: Iterable<EventId>; organizations?: Iterable<OrganizationId> }) {
      const { events = [], organizations = [] } = what
      const pending = [schedule.due, ...schedule.held.values()]
      backlog.add({
        events: [...events].filter(id => !pending.some(one => one.events.has(id))),
        organizations: [...organizations].filter(id => !pending.some(one => one.organizations.has(id))),
      })
    },

    /** Whether anything of the partition committed up to `revision` is held back. */
    holdsBack(of: TopicPartition, revision: number): boolean {
      const mark = schedule.held.get(partitionKey(of))?.marks.get(partitionKey(of))
      return backlog.holds(of) || (mark !== undefined && mark.since < revision)
    },

    /**
     * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres, and adds everything that
     * Redis lacks, apart from the documents of quiet events. Returns false if nothing is missing. Read `storedRevision`
     * before the last flush, and call this only if nothing of the partition is held back.
     */
    async heal(of: TopicPartition, storedRevision: number): Promise<boolean> {
      const missing = await findMissing(deps, of, storedRevision)
      if (missing === undefined) return false
      const { events, organizations, quiet, mark } = missing
      if (events.length + organizations.length > fewEvents || quiet.length > 0) backlog.add(missing)
      else schedule.due.add({ events: whole(events), organizations, marks: [mark] })
      return true
    },
  }
}

/**
 * Flushes and pieces run one at a time, in the order of the calls, because two concurrent publications would compose
 * the same documents twice. Callers that ask for a flush before the next one has begun share it, and so do concurrent
 * calls of `drain`.
 */
function createRuns(
  schedule: Schedule,
  backlog: Backlog,
  publish: Publish,
  metrics: PublisherDeps['metrics'],
) {
  const running: { last: Promise<unknown>; flush?: Promise<void>; drain?: Promise<void> } = {
    last: Promise.resolve(),
  }
  /** Events of the flush before that the marks of the next one cover too: if Redis lost the former, readers see it. */
  let carried: Awaited<ReturnType<Publish>> = []

  /** Work that fails does not stop what follows. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const run = running.last.then(work, work)
    running.last = run
    return run
  }

  const flushNow = async (): Promise<void> => {
    delete running.flush
    const taken = schedule.take()
    if (taken.isEmpty()) return
    const began = performance.now()
    try {
      const moved = new Set<EventId>()
      const takeMore = (id: EventId) => {
        const both = schedule.takeMore(taken, id)
        if (both !== undefined) moved.add(id)
        return both
      }
      const published = await publish(taken, takeMore, carried)
      backlog.extend(taken.marks.values(), [...carried, ...published])
      carried = published.filter(({ eventId }) => moved.has(eventId))
      metrics?.publishSeconds.observe((performance.now() - began) / 1000)
    } catch (error) {
      schedule.putBack(taken)
      throw error
    }
  }

  /** Returns false if no piece is left. */
  const publishPiece = async (): Promise<boolean> => {
    // Not earlier, because the flush before it may extend its mark.
    const piece = backlog.next()
    if (piece === undefined) return false
    piece.done(await publish(piece.pending, undefined, piece.covered))
    return true
  }

  /** Publishes everything that is due. Throws if Redis or Postgres does not answer; everything then stays pending. */
  const flush = (): Promise<void> => {
    running.flush ??= inTurn(flushNow)
    return running.flush
  }

  const drainAll = async (isStopping: () => boolean): Promise<void> => {
    while (!isStopping() && (await inTurn(publishPiece))) await flush()
  }
  /** Publishes the backlog piece by piece, each before a flush, until it is empty or `isStopping`. Throws likewise. */
  const drain = (isStopping = () => false): Promise<void> => {
    running.drain ??= drainAll(isStopping).finally(() => delete running.drain)
    return running.drain
  }

  return { flush, drain }
}

function unpublished({ before, areas, event }: EventEffect, revision: number): Unpublished {
  if (areas === 'all') return { whole: true }
  const byKey = new Map(areas.map(area => [areaOf(area.dayId, area.areaId), area]))
  return { whole: false, since: before, to: revision, areas: byKey, event }
}

type Publish = ReturnType<typeof createPublication>
type PublicationDeps = ReadModel & {
  /** The topic of organizations: its reader publishes all of them when Redis has lost its data. */
  organizationsTopic?: string
  /** Called when documents of a new epoch were published. */
  onNewEpoch?: () => void
} & Pick<PublishDeps, 'onUncomposable'>

/**
 * Composes documents from Postgres and stores them in Redis, then (and never before) the revisions and marks that vouch
 * for them in the hashes of their shards, those of each shard in one step. A crash in between leaves documents that no
 * mark vouches for; the next owner of the partition publishes them again.
 */
function createPublication({ db, redis, keys, onNewEpoch = () => {}, onUncomposable }: PublicationDeps) {
  let isNewEpoch = false
  const epochs = createEpochs({ redis, keys }, () => {
    isNewEpoch = true
  })

  const raiseMarks = async (epoch: number, pending: Pending, published: Published['events']) => {
    const marks = Map.groupBy(pending.marks.values(), ({ partition }) => partition)
    const events = Map.groupBy(published, ({ shard }) => shard)
    const raiseShard = (shard: number) => {
      const [ofTopics, ofEvents] = [marks.get(shard) ?? [], events.get(shard) ?? []]
      return redis.raiseMarks(
        keys.shard(shard),
        epoch,
        ofTopics.length,
        ...ofTopics.flatMap(({ topic, since, revision }) => [publishedField(topic), since, revision]),
        ...ofEvents.flatMap(({ eventId, revision }) => [eventRevisionField(eventId), revision]),
      )
    }
    await Promise.all([...new Set([...marks.keys(), ...events.keys()])].map(raiseShard))
  }

  /** Returns the published events. `covered`: earlier events that the marks cover too. `latest`: as in PublishDeps. */
  return async (pending: Pending, latest: PublishDeps['latest'], covered: Published['events'] = []) => {
    if (pending.organizations.size > 0) await publishOrganizations({ db, redis, keys }, pending.organizations)
    const deps = { db, redis, keys, epochs, latest, onUncomposable }
    const published = await publishEvents(deps, pending.events)
    const epoch = published.epoch ?? (await readEpoch(db))
    if (epoch !== null) await raiseMarks(epoch, pending, [...covered, ...published.events])
    if (isNewEpoch) onNewEpoch()
    isNewEpoch = false
    return published.events
  }
}

/**
 * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres. Returns everything that changed
 * after the mark, quiet events apart, with the mark to raise once that is published; undefined if Redis has everything.
 */
async function findMissing(
  { db, redis, keys, organizationsTopic }: PublicationDeps,
  { topic, partition }: TopicPartition,
  storedRevision: number,
): Promise<Required<Missing> | undefined> {
  const field = await redis.hget(keys.shard(partition), publishedField(topic))
  const since = Number(field ?? 0)
  if (since >= storedRevision) return undefined
  // Up to now: then the marks of later batches touch this mark, and extend it in the backlog.
  const now = (await readOffsets(db, [topic])).find(stored => stored.partition === partition)
  const mark: Mark = { topic, partition, since, revision: Math.max(storedRevision, now?.revision ?? 0) }
  const changed = await readEventsSince(db, { shard: partition, revision: since, quietMs: keys.quietMs })
  // Redis lost everything: only the projector that reads their topic publishes all organizations.
  const isOthers = field === null && organizationsTopic !== undefined && topic !== organizationsTopic
  const organizations = isOthers ? [] : await readOrganizationsSince(db, since)
  return {
    events: changed.filter(({ isQuiet }) => !isQuiet).map(({ eventId }) => eventId),
    quiet: changed.filter(({ isQuiet }) => isQuiet),
    organizations,
    mark,
  }
}
