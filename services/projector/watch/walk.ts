import type { OrganizationId } from '@tally/contract'
import type { TopicPartition } from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import {
  type EventRevision,
  eventRevisionField,
  type HeadRevision,
  type ReadModelRedis,
  type RedisKeys,
  readEventRevisions,
  readOrganizationRevisions,
  stampAbove,
} from '@tally/publication'
import type { Publisher } from '../publish/publisher.ts'
import { type Compared, createRound } from './round.ts'

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
}: {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
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
