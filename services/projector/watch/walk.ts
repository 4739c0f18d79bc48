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
import { type Compared, openRound } from './round.ts'

export type Walk = {
  /** Compares the next page of the assigned shards' events, and of organizations. */
  step(assigned: TopicPartition[]): Promise<void>
}

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
