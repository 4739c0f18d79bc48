import type { EventId, OrganizationId } from '@tally/contract'
import type { TopicPartition } from '@tally/kafka'
import {
  publishedField,
  type ReadModelRedis,
  type RedisKeys,
  readEventsSince,
  readOffsets,
  readOrganizationsSince,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import type { Mark } from './pending.ts'

export type Missing = { events: EventId[]; organizations: OrganizationId[]; mark: Mark }

export type MissingDeps = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  /** The topic of organizations: its reader publishes all of them when Redis has lost its data. */
  organizationsTopic?: string
}

/**
 * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres. Returns everything that changed
 * after the mark, with the mark to raise once that is published; undefined if Redis has everything.
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
  const events = await readEventsSince(db, of.partition, published)
  // Redis lost everything: only the projector that reads their topic publishes all organizations.
  const isOthers = mark === null && organizationsTopic !== undefined && of.topic !== organizationsTopic
  const organizations = isOthers ? [] : await readOrganizationsSince(db, published)
  return { events, organizations, mark: { ...of, since: published, revision } }
}
