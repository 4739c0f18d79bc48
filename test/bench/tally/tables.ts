import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import type { Bench } from '../run/bench.ts'
import { redisInfo } from '../run/redisInfo.ts'

type Table = {
  table: string
  rows: number
  tableBytes: number
  indexBytes: number
  dead: number
  updates: number
  hotUpdates: number
  vacuums: number
  vacuumMs: number
}

/**
 * A line about each table above a megabyte, and one about all, with Redis: rows, sizes, dead rows, how many updates
 * touched no index (HOT), and what autovacuum has done. `total_autovacuum_time` is from Postgres 18.
 */
export async function tableLines(bench: Pick<Bench, 'redis'>, db: Postgres): Promise<string[]> {
  const { rows } = await sql<Table>`
select relname::text as "table", n_live_tup as rows, n_dead_tup as dead,
  pg_table_size(relid) as "tableBytes", pg_indexes_size(relid) as "indexBytes",
  n_tup_upd as updates, n_tup_hot_upd as "hotUpdates",
  autovacuum_count as vacuums, total_autovacuum_time::bigint as "vacuumMs"
from pg_stat_user_tables
where schemaname = 'public' and pg_total_relation_size(relid) > 1000000
order by pg_total_relation_size(relid) desc`.execute(db)
  const sum = (of: Exclude<keyof Table, 'table'>) => rows.reduce((total, table) => total + table[of], 0)
  const used = await redisInfo(bench, 'memory', 'used_memory')
  return [
    ...rows.map(
      one =>
        `${one.table}: ${grouped(one.rows)} rows, ${mebibytes(one.tableBytes)}, indexes ${mebibytes(one.indexBytes)}, ${grouped(one.dead)} dead, ${grouped(one.updates)} updates (${grouped(one.hotUpdates)} HOT), ${one.vacuums} autovacuums of ${seconds(one.vacuumMs)}`,
    ),
    `all tables: ${mebibytes(sum('tableBytes'))}, indexes ${mebibytes(sum('indexBytes'))}, ${grouped(sum('dead'))} dead, ${sum('vacuums')} autovacuums of ${seconds(sum('vacuumMs'))}; Redis ${mebibytes(used)}`,
  ]
}

const grouped = (count: number) => count.toLocaleString('en')
const mebibytes = (bytes: number) => `${grouped(Math.round(bytes / 1024 / 1024))} MiB`
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
