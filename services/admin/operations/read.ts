import {
  describeTopics,
  type HeldBack,
  heldBack,
  type KafkaConnection,
  logEnds,
  partitionKey,
  partitionsOf,
  recordTopics,
  type TopicPartition,
  topicNames,
} from '@tally/kafka'
import { earliest, readLogs, readOffsets, type Stall } from '@tally/offsets'
import { isTransient, type Postgres, timeout } from '@tally/platform'
import { type ReadModel, readShardHash } from '@tally/publication'
import { sql } from 'kysely'
import { type AuditEntry, readAudit } from '../audit/store.ts'

/** A shard: records not applied yet (null if Kafka or Postgres does not answer), and its watermark. */
export type Shard = { shard: number; lag: number | null; asOfMs: number | null }
type Rebuild = { startedAt: number; finishedAt: number | null }

type Deps = ReadModel & {
  kafka: KafkaConnection
  topicPrefix: string
}

export const answerTimeoutMs = 3_000

/** Where the logs of these topics end, including records of open transactions, as the projector's metric counts lag. */
export async function endsOf(kafka: KafkaConnection, topics: string[]) {
  return logEnds(kafka, partitionsOf(await describeTopics(kafka, topics)))
}

/** The lag of a partition: records of its log that no projector has read yet; 0 if Kafka does not have it. */
export function lagsOf(
  stored: readonly (TopicPartition & { nextOffset: number })[],
  ends: Awaited<ReturnType<typeof endsOf>>,
) {
  const nextOffsets = new Map(stored.map(row => [partitionKey(row), row.nextOffset]))
  return (of: TopicPartition): number => {
    const log = ends.get(of.topic)?.get(of.partition)
    return log === undefined ? 0 : Math.max(0, log.end - (nextOffsets.get(partitionKey(of)) ?? log.start))
  }
}

/** What `work` reads from Postgres; undefined while that does not answer. */
async function ifAnswered<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return work.catch(error => {
    if (isTransient(error)) return undefined
    throw error
  })
}

/**
 * The lag of each shard over its topics; all records of a shard that no projector has read yet. While Postgres does not
 * answer, the shards are those that Kafka has, with the watermarks that Redis has.
 */
export async function readShards({ db, redis, keys, kafka, topicPrefix }: Deps): Promise<Shard[]> {
  const { events, orders, refunds } = topicNames(topicPrefix)
  const topics = [events, orders, refunds]
  const [stored, ends] = await Promise.all([
    ifAnswered(readOffsets(db, topics)),
    timeout(answerTimeoutMs, endsOf(kafka, topics)).catch(() => undefined),
  ])
  const known = [...(ends?.values() ?? [])].flatMap(partitions => [...partitions.keys()])
  const shards = new Set([...(stored ?? []).map(({ partition }) => partition), ...known])
  const sorted = [...shards].toSorted((one, other) => one - other)
  if (stored === undefined)
    return Promise.all(
      sorted.map(async shard => {
        const hash = await readShardHash({ redis, keys }, topics, shard, []).catch(() => undefined)
        return { shard, lag: null, asOfMs: hash?.asOfMs ?? null }
      }),
    )
  const lagOf = ends && lagsOf(stored, ends)
  return sorted.map(shard => {
    const rows = new Map(stored.filter(row => row.partition === shard).map(row => [row.topic, row]))
    return {
      shard,
      lag: lagOf ? topics.reduce((sum, topic) => sum + lagOf({ topic, partition: shard }), 0) : null,
      asOfMs: earliest(topics.map(topic => rows.get(topic)?.asOfMs ?? null)),
    }
  })
}

/** The transactions of other producers that hold back a shard; none if Kafka does not answer. */
export async function readHeldBack({
  kafka,
  topicPrefix,
}: Pick<Deps, 'kafka' | 'topicPrefix'>): Promise<HeldBack[]> {
  const find = async () => {
    const counts = await describeTopics(kafka, [...recordTopics(topicNames(topicPrefix)).keys()])
    return heldBack(kafka, partitionsOf(counts))
  }
  return timeout(answerTimeoutMs, find()).catch(() => [])
}

export type StalledPartition = Stall & { topic: string; partition: number }

/** The partitions that are stalled until an operator acts, as the projectors stored them. */
async function readStalled({
  db,
  topicPrefix,
}: Pick<Deps, 'db' | 'topicPrefix'>): Promise<StalledPartition[]> {
  const stored = await readLogs(db, [...recordTopics(topicNames(topicPrefix)).keys()])
  return stored.flatMap(({ topic, partition, stall }) =>
    stall === null ? [] : [{ topic, partition, ...stall }],
  )
}

async function readLastRebuild(db: Postgres): Promise<Rebuild | undefined> {
  return db
    .selectFrom('rebuilds')
    .select(['started_at as startedAt', 'finished_at as finishedAt'])
    .orderBy('rebuild_id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The step of the schema that ran last. */
async function readSchema(db: Postgres): Promise<string> {
  const { rows } = await sql<{ name: string }>`
select name from kysely_migration order by name desc limit 1`.execute(db)
  return rows[0]?.name ?? 'unknown'
}

const shownCommands = 10

/** What only Postgres has; `rebuild` is undefined if there was none. */
export type Stored = {
  rebuild: Rebuild | undefined
  stalled: StalledPartition[]
  /** The latest of the platform team's commands that leave an audit entry. */
  commands: AuditEntry[]
  schema: string
}

/** Reads what only Postgres has; undefined while that does not answer. */
export function readStoredState({ db, topicPrefix }: Pick<Deps, 'db' | 'topicPrefix'>) {
  return ifAnswered<Stored>(
    (async () => {
      const [rebuild, stalled, commands, schema] = await Promise.all([
        readLastRebuild(db),
        readStalled({ db, topicPrefix }),
        readAudit(db, null, { limit: shownCommands }),
        readSchema(db),
      ])
      return { rebuild, stalled, commands, schema }
    })(),
  )
}
