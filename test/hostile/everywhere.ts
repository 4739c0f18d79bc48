import { readdirSync, readFileSync } from 'node:fs'
import type { Postgres, RedisClient } from '@tally/platform'
import { Cluster, type Redis } from 'ioredis'
import { sql } from 'kysely'

/** Every row of every table of the database, as text. */
export async function everythingInPostgres(db: Postgres): Promise<string> {
  const { rows } = await sql<{ schema: string; name: string }>`
select table_schema as schema, table_name as name from information_schema.tables
where table_schema not in ('information_schema', 'pg_catalog')`.execute(db)
  const texts = []
  for (const { schema, name } of rows) {
    const { rows } = await sql<{
      text: string
    }>`select t::text as text from ${sql.id(schema, name)} t`.execute(db)
    texts.push(name, ...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

/** The statements that Tally's processes run or ran last, as everybody who may watch the server sees them. */
export async function statementsInPostgres(db: Postgres): Promise<string> {
  const { rows } = await sql<{ query: string }>`
select query from pg_stat_activity where application_name in ('tally-query', 'tally-projector')`.execute(db)
  return rows.map(({ query }) => query).join('\n')
}

/** Each Redis that holds keys: the one, or the masters of a cluster. */
export const nodesOf = (redis: RedisClient): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis as Redis]

/** The names of all keys, and what those under the prefix hold: others may be another test's. */
export async function everythingInRedis(redis: RedisClient, prefix: string): Promise<string> {
  const texts: string[] = []
  for (const node of nodesOf(redis)) {
    for await (const keys of node.scanStream({ count: 1_000 })) {
      texts.push(...(keys as string[]))
      for (const key of (keys as string[]).filter(key => key.startsWith(`${prefix}:`))) {
        const isHash = (await redis.type(key)) === 'hash'
        texts.push(JSON.stringify(isHash ? await redis.hgetall(key) : await redis.get(key)))
      }
    }
  }
  return texts.join('\n')
}

/** What the list of processes shows to everybody on the machine (Linux). */
export function argumentsOfProcesses(): string {
  const texts = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })
  return texts.join('\n')
}
