import { readEventsSince, readOrganizationsSince } from '@tally/figures'
import type { TopicPartition } from '@tally/kafka'
import { readOffsets } from '@tally/offsets'
import { publishedField } from '@tally/publication'
import type { Lacking } from './backlog.ts'
import type { Mark } from './pending.ts'
import type { PublicationDeps } from './publication.ts'

/**
 * Compares a partition's mark in Redis with `storedRevision`, its revision in Postgres. Returns everything that changed
 * after the mark, quiet events apart, with the mark to raise once that is published; undefined if Redis has everything.
 */
export async function findMissing(
  { db, redis, keys, organizationsTopic }: PublicationDeps,
  { topic, partition }: TopicPartition,
  storedRevision: number,
): Promise<Required<Lacking> | undefined> {
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
