import type { RecordBatch } from '@tally/kafka'
import type { Database, Postgres } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { shadowSchema } from './shadow.ts'

/** Shards in groups: those that share an event are in one. Without partitions added later, each is alone. */
export function groupShards(shards: number[], shared: [number, number][]): number[][] {
  const leader = new Map(shards.map(shard => [shard, shard]))
  const leaderOf = (shard: number): number => {
    const next = leader.get(shard) ?? shard
    return next === shard ? shard : leaderOf(next)
  }
  for (const [one, other] of shared) leader.set(leaderOf(one), leaderOf(other))
  return [...Map.groupBy(shards, leaderOf).values()]
}

/** Pairs of shards that records of one event came through. */
export async function readSharedShards(db: Kysely<Database>): Promise<[number, number][]> {
  const table = sql.id(shadowSchema, 'event_shards')
  const { rows } = await sql<{ one: number; other: number }>`
select distinct lowest.shard as one, more.shard as other
from ${table} as more
join (select event_id, min(shard) as shard from ${table} group by event_id) as lowest using (event_id)
where more.shard <> lowest.shard`.execute(db)
  return rows.map(({ one, other }) => [one, other])
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Stores through which shards the records of an event came: if partitions were added once, an event has records in two,
 * and these must be switched together. Runs before the batch is applied: one too many does no harm.
 */
export async function noteShards(
  shadow: Postgres,
  { topic, partition, records }: RecordBatch,
): Promise<void> {
  if (topic.endsWith('.organizations')) return
  const ids = [...new Set(records.map(({ key }) => String(key)))].filter(key => isUuid.test(key)).sort()
  if (ids.length === 0) return
  await sql`
insert into ${sql.id(shadowSchema, 'event_shards')} (event_id, shard)
select id, ${partition} from unnest(${ids}::uuid[]) as id
on conflict do nothing`.execute(shadow)
}
