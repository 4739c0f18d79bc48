import type { EventId, OrganizationId } from '@tally/contract'
import type { TopicPartition } from '@tally/kafka'
import {
  type Published,
  publishedField,
  type ReadModelRedis,
  type RedisKeys,
  readEventsSince,
  readOffsets,
  readOrganizationsSince,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import type { Mark } from './pending.ts'

/**
 * `quiet`: events whose documents are not published, because nobody may ever ask for them again; their revisions go
 * with the mark, so that a hash of them that went back is recognized as old.
 */
export type Missing = {
  events: EventId[]
  quiet: Published['events']
  organizations: OrganizationId[]
  mark: Mark
}

export type MissingDeps = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  /** The topic of organizations: its reader publishes all of them when Redis has lost its data. */
  organizationsTopic?: string
}

/**
 * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres. Returns everything that changed
 * after the mark, quiet events apart, with the mark to raise once that is published; undefined if Redis has everything.
 */
export async function findMissing(
  { db, redis, keys, organizationsTopic }: MissingDeps,
  of: TopicPartition,
  storedRevision: number,
): Promise<Missing | undefined> {
  const mark = await redis.hget(keys.shard(of.partition), publishedField(of.topic))
  const published = Number(mark ?? 0)
  if (published >= storedRevision) return undefined
  // Up to now: then the marks of later batches touch this mark, and extend it in the backlog.
  const now = (await readOffsets(db, [of.topic])).find(({ partition }) => partition === of.partition)
  const revision = Math.max(storedRevision, now?.revision ?? 0)
  const changed = await readEventsSince(db, {
    shard: of.partition,
    revision: published,
    quietMs: keys.quietMs,
  })
  // Redis lost everything: only the projector that reads their topic publishes all organizations.
  const isOthers = mark === null && organizationsTopic !== undefined && of.topic !== organizationsTopic
  const organizations = isOthers ? [] : await readOrganizationsSince(db, published)
  return {
    events: changed.filter(({ isQuiet }) => !isQuiet).map(({ eventId }) => eventId),
    quiet: changed.filter(({ isQuiet }) => isQuiet),
    organizations,
    mark: { ...of, since: published, revision },
  }
}
