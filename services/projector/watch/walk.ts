import type { OrganizationId } from '@tally/contract'
import type { TopicPartition } from '@tally/kafka'
import {
  type EventRevision,
  eventRevisionField,
  type HeadRevision,
  type ReadModel,
  readEventRevisions,
  readOrganizationRevisions,
  stampAbove,
} from '@tally/publication'
import type { Publisher } from '../publish/publisher.ts'

export type Walk = {
  /** Compares the next page of the assigned shards' events, and of organizations. */
  step(assigned: TopicPartition[]): Promise<void>
}

/**
 * Compares the revision of every event and organization in Redis with that in Postgres, page by page, again and again.
 * What is old or missing in Redis is published again: a single key can go back when a replica takes over a node of a
 * cluster. The missing documents of a quiet event have expired; they come back when somebody asks. What is newer in
 * Redis gets a new revision: Postgres has lost it, and nothing else would replace it. A difference counts only if it is
 * found twice, because most are about to be published anyway (docs/architecture.md, When Postgres or Redis goes back).
 */
export function createWalk({
  db,
  redis,
  keys,
  publisher,
  eventsTopic,
  organizationsTopic,
}: ReadModel & {
  publisher: Pick<Publisher, 'again'>
  eventsTopic: string
  organizationsTopic: string
}): Walk {
  const events = createRound(
    (shards, after: EventRevision | undefined, limit) =>
      readEventRevisions(db, { shards, after, limit, quietMs: keys.quietMs }),
    async ({ id, shard, revision, isQuiet }) => ({
      published: (await readRevision(keys.event(id))) ?? (isQuiet ? String(revision) : null),
      noted: await redis.hget(keys.shard(shard), eventRevisionField(id)),
    }),
  )
  const organizations = createRound(
    (_shards, after: HeadRevision<OrganizationId> | undefined, limit) =>
      readOrganizationRevisions(db, { after: after?.id, limit }),
    async ({ id }) => ({ published: await readRevision(keys.organization(id)), noted: null }),
  )

  /** Null if there is no key. One of another type has the lowest revision: publishing replaces it. */
  const readRevision = (key: string): Promise<string | null> =>
    redis.hget(key, 'revision').catch(error => {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return '-1'
      throw error
    })

  /** Stamps what is newer in Redis than in Postgres with a revision above both. */
  const stamp = async (table: 'event_heads' | 'organizations', found: Compared[]) => {
    const newer = found.filter(({ revision, published }) => published > revision)
    if (newer.length > 0) await stampAbove(db, table, newer)
  }

  return {
    async step(assigned) {
      const shards = assigned.filter(({ topic }) => topic === eventsTopic).map(({ partition }) => partition)
      const old = await events(shards)
      await stamp('event_heads', old)
      const isKeeper = assigned.some(({ topic }) => topic === organizationsTopic)
      const oldOrganizations = isKeeper ? await organizations([0]) : []
      await stamp('organizations', oldOrganizations)
      publisher.again({
        events: old.map(({ id }) => id),
        organizations: new Set(oldOrganizations.map(({ id }) => id)),
      })
    },
  }
}

/**
 * Events per step: as many as a round of about 50 steps (20 s) needs, counted in the round before. The limit of 2,000
 * makes a round longer than 60 s from 300,000 events on.
 */
const pageSizes = { first: 500, least: 20, most: 2_000 }
const stepsPerRound = 50

/** An event or organization with its revision in Postgres and in Redis. */
type Compared<Id = string> = {
  id: Id
  /** In Postgres. */
  revision: number
  /** In Redis, -1 for none; or the revision that the shard's hash notes as published, if that is above `revision`. */
  published: number
}

/** The revision of a hash in Redis, and the one that its shard's hash notes as published; null for none. */
type FoundRevision = { published: string | null; noted: string | null }

/**
 * Compares all heads of some shards with Redis, a page per step, and begins again at the end. A step returns the
 * confirmed differences: those that it finds on a page twice, in consecutive steps, with the same revision in Redis. A
 * page is read twice at most, because some of its events may change all the time, and are about to be published
 * whenever it is read. The step that reads a page for the second time continues with the next page, so that busy events
 * do not delay a round.
 */
function createRound<Head extends HeadRevision<string>>(
  readPage: (shards: number[], after: Head | undefined, limit: number) => Promise<Head[]>,
  readRedis: (head: Head) => Promise<FoundRevision>,
) {
  const round = {
    after: undefined as Head | undefined,
    suspects: new Map<string, number>(),
    pageSize: pageSizes.first,
    walked: 0,
  }

  const compare = async (head: Head): Promise<Compared<Head['id']>> => {
    const { published, noted } = await readRedis(head)
    const { id, revision } = head
    return { id, revision, published: Math.max(Number(published ?? -1), aboveOr(revision, noted)) }
  }

  const comparePage = async (shards: number[]): Promise<Compared<Head['id']>[]> => {
    if (shards.length === 0) return []
    const page = await readPage(shards, round.after, round.pageSize)
    const found = await Promise.all(page.map(compare))
    const differing = found.filter(({ revision, published }) => published !== revision)
    const confirmed = differing.filter(({ id, published }) => round.suspects.get(id) === published)
    round.suspects = new Map(round.suspects.size > 0 ? [] : differing.map(of => [of.id, of.published]))
    if (round.suspects.size > 0) return confirmed
    round.walked += page.length
    round.after = page.length === round.pageSize ? page.at(-1) : undefined
    if (round.after !== undefined) return confirmed
    const { least, most } = pageSizes
    round.pageSize = Math.min(most, Math.max(least, Math.ceil(round.walked / stepsPerRound)))
    round.walked = 0
    return confirmed
  }

  return async (shards: number[]): Promise<Compared<Head['id']>[]> => {
    const isSecond = round.suspects.size > 0
    const confirmed = await comparePage(shards)
    return isSecond ? [...confirmed, ...(await comparePage(shards))] : confirmed
  }
}

/** The noted revision, if above `revision`: Postgres has lost it. A lower one means nothing: a hash can go back too. */
const aboveOr = (revision: number, noted: string | null): number =>
  Number(noted ?? -1) > revision ? Number(noted) : -1
