import { readFileSync } from 'node:fs'
import {
  describeTopics,
  type HeldBack,
  heldBack,
  type KafkaConnection,
  logEnds,
  partitionsOf,
  recordTopics,
  topicNames,
} from '@tally/kafka'
import { earliest, readLogs, readOffsets, type Stall } from '@tally/read-models'
import { timeout } from '@tally/runtime'
import type { Postgres, RedisClient } from '@tally/storage'
import { sql } from 'kysely'

/** A shard: records not applied yet (null if Kafka does not answer), and its watermark. */
export type Shard = { shard: number; lag: number | null; asOfMs: number | null }
export type Rebuild = { startedAt: number; finishedAt: number | null }
export type Versions = { name: string; version: string }[]

type Parts = { db: Postgres; redis: RedisClient; kafka: KafkaConnection; topicPrefix: string }

const patienceMs = 3_000

/** Where the logs of these topics end, including records of open transactions, as the projector's metric counts lag. */
async function endsOf(kafka: KafkaConnection, topics: string[]) {
  return logEnds(kafka, partitionsOf(await describeTopics(kafka, topics)))
}

/** The lag of each shard over its topics; all records of a shard that no projector has read yet. */
export async function readShards({ db, kafka, topicPrefix }: Parts): Promise<Shard[]> {
  const { events, orders, refunds } = topicNames(topicPrefix)
  const topics = [events, orders, refunds]
  const [stored, ends] = await Promise.all([
    readOffsets(db, topics),
    timeout(patienceMs, endsOf(kafka, topics)).catch(() => undefined),
  ])
  const known = [...(ends?.values() ?? [])].flatMap(partitions => [...partitions.keys()])
  const shards = new Set([...stored.map(({ partition }) => partition), ...known])
  return [...shards]
    .toSorted((one, other) => one - other)
    .map(shard => {
      const rows = new Map(stored.filter(row => row.partition === shard).map(row => [row.topic, row]))
      const lagOf = (topic: string) => {
        const log = ends?.get(topic)?.get(shard)
        return log === undefined ? 0 : Math.max(0, log.end - (rows.get(topic)?.nextOffset ?? log.start))
      }
      return {
        shard,
        lag: ends === undefined ? null : topics.reduce((sum, topic) => sum + lagOf(topic), 0),
        asOfMs: earliest(topics.map(topic => rows.get(topic)?.asOfMs ?? null)),
      }
    })
}

/** The transactions of other producers that hold back a shard; none if Kafka does not answer. */
export async function readHeldBack({
  kafka,
  topicPrefix,
}: Pick<Parts, 'kafka' | 'topicPrefix'>): Promise<HeldBack[]> {
  const find = async () => {
    const counts = await describeTopics(kafka, [...recordTopics(topicNames(topicPrefix)).keys()])
    return heldBack(kafka, partitionsOf(counts))
  }
  return timeout(patienceMs, find()).catch(() => [])
}

export type StalledPartition = Stall & { topic: string; partition: number }

/** The partitions that are stalled until an operator acts, as the projectors stored them. */
export async function readStalled({
  db,
  topicPrefix,
}: Pick<Parts, 'db' | 'topicPrefix'>): Promise<StalledPartition[]> {
  const stored = await readLogs(db, [...recordTopics(topicNames(topicPrefix)).keys()])
  return stored.flatMap(({ topic, partition, stall }) =>
    stall === null ? [] : [{ topic, partition, ...stall }],
  )
}

/** The last run of `tally rebuild`; undefined if there was none. */
export async function readLastRebuild(db: Postgres): Promise<Rebuild | undefined> {
  const row = await db
    .selectFrom('rebuilds')
    .select(['started_at', 'finished_at'])
    .orderBy('rebuild_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { startedAt: row.started_at, finishedAt: row.finished_at }
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** The versions of all parts, with a note for one that does not answer. */
export async function readVersions({ db, redis }: Parts): Promise<Versions> {
  const silent = () => 'does not answer'
  const [postgres, redisVersion, schema] = await Promise.all([
    sql<{ version: string }>`select current_setting('server_version') as version`
      .execute(db)
      .then(({ rows }) => rows[0]?.version ?? '', silent),
    redis.info('server').then(info => /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown', silent),
    sql<{ name: string }>`select name from kysely_migration order by name desc limit 1`
      .execute(db)
      .then(({ rows }) => rows[0]?.name ?? '', silent),
  ])
  return [
    { name: 'Tally', version },
    { name: 'Schema', version: schema },
    { name: 'Node.js', version: process.versions.node },
    { name: 'Postgres', version: postgres },
    { name: 'Redis', version: redisVersion },
  ]
}
