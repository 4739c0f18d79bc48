import type { OrganizationId } from '@tally/contract'
import type { TopicPartition } from '@tally/kafka'
import {
  eventRevisionField,
  type HeadRevision,
  type ReadModelRedis,
  type RedisKeys,
  readEventRevisions,
  readOrganizationRevisions,
  type ShardEvent,
  stampAbove,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import type { Publisher } from '../publish/publisher.ts'

/**
 * Events per step: so many that a round takes about 50 steps (20 s), as counted in the round before. At most 2,000: from
 * 300,000 events on, a round takes longer than 60 s.
 */
const pageSizes = { first: 500, least: 20, most: 2_000 }
const stepsPerRound = 50

export type Walk = {
  /** Compares the next page of the assigned shards' events, and of organizations. */
  step(assigned: TopicPartition[]): Promise<void>
}

/**
 * `published`: the revision in Redis, -1 for none; or the one that the shard's hash says was published, if that is
 * above `revision`.
 */
type Found<Id = string> = { id: Id; revision: number; published: number }
type EventRevision = ShardEvent & { revision: number }

/**
 * Compares the revision of every event and organization in Redis with that in Postgres, page by page, again and again.
 * What is old or missing in Redis is published again: a single key can go back when a replica takes over a node of a
 * cluster. What is newer in Redis gets a new revision: Postgres has lost it, and nothing else would replace it. A
 * difference counts only if it is found twice, because most are about to be published anyway (docs/architecture.md,
 * When Postgres or Redis goes back).
 */
export function openWalk({
  db,
  redis,
  keys,
  publisher,
  eventsTopic,
  organizationsTopic,
}: {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  publisher: Pick<Publisher, 'again'>
  eventsTopic: string
  organizationsTopic: string
}): Walk {
  const events = openRound(
    (shards, after: EventRevision | undefined, limit) => readEventRevisions(db, { shards, after, limit }),
    async ({ id, shard }) => ({
      published: await readRevision(keys.event(id)),
      noted: await redis.hget(keys.shard(shard), eventRevisionField(id)),
    }),
  )
  const organizations = openRound(
    (_shards, after: HeadRevision<OrganizationId> | undefined, limit) =>
      readOrganizationRevisions(db, { after: after?.id, limit }),
    async ({ id }) => ({ published: await readRevision(keys.organization(id)), noted: null }),
  )

  /** A key of another type has no revision: publishing replaces it. */
  const readRevision = (key: string): Promise<string | null> =>
    redis.hget(key, 'revision').catch(error => {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null
      throw error
    })

  function openRound<Head extends HeadRevision<string>>(
    readPage: (shards: number[], after: Head | undefined, limit: number) => Promise<Head[]>,
    readRedis: (head: Head) => Promise<{ published: string | null; noted: string | null }>,
  ) {
    let after: Head | undefined
    let suspects = new Map<string, number>()
    let pageSize = pageSizes.first
    let walked = 0

    const compare = async (head: Head): Promise<Found<Head['id']>> => {
      const { published, noted } = await readRedis(head)
      const { id, revision } = head
      return { id, revision, published: Math.max(Number(published ?? -1), aboveOr(revision, noted)) }
    }

    const endRound = (): void => {
      const { least, most } = pageSizes
      pageSize = Math.min(most, Math.max(least, Math.ceil(walked / stepsPerRound)))
      walked = 0
    }

    /** The differences of a page that were already there at the last look. */
    const comparePage = async (shards: number[]): Promise<Found<Head['id']>[]> => {
      if (shards.length === 0) return []
      const page = await readPage(shards, after, pageSize)
      const found = await Promise.all(page.map(compare))
      const differing = found.filter(({ revision, published }) => published !== revision)
      const confirmed = differing.filter(({ id, published }) => suspects.get(id) === published)
      const fresh = differing.filter(found => !confirmed.includes(found))
      // Once more at most: of a page with busy events some are always on their way.
      suspects = new Map(suspects.size > 0 ? [] : fresh.map(({ id, published }) => [id, published]))
      if (suspects.size > 0) return confirmed
      walked += page.length
      after = page.length === pageSize ? page.at(-1) : undefined
      if (after === undefined) endRound()
      return confirmed
    }

    /** A step that only confirms continues with the next page, so that busy events do not delay a round. */
    return async (shards: number[]): Promise<Found<Head['id']>[]> => {
      const isSecond = suspects.size > 0
      const confirmed = await comparePage(shards)
      return isSecond ? [...confirmed, ...(await comparePage(shards))] : confirmed
    }
  }

  /** Stamps what is newer in Redis than in Postgres with a revision above both. */
  const stamp = async (table: 'event_heads' | 'organizations', found: Found[]) => {
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
 * The noted revision, if it is above `revision`: Postgres has lost it. A lower one means nothing, because a shard's
 * hash can go back too.
 */
const aboveOr = (revision: number, noted: string | null): number =>
  Number(noted ?? -1) > revision ? Number(noted) : -1
