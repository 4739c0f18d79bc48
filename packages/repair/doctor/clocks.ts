import type { Postgres, RedisClient } from '@tally/platform'
import { Cluster } from 'ioredis'
import { sql } from 'kysely'
import { type DoctorFinding, fail, ok, skip } from './check.ts'

/** Clocks with NTP differ by milliseconds. */
const maxDifferenceMs = 2_000

/** Compares the clocks of Postgres and Redis with that of this host. */
export async function checkClocks(
  db: Postgres | undefined,
  redis: RedisClient | undefined,
): Promise<DoctorFinding> {
  const asked: [name: string, ask: () => Promise<number>][] = []
  if (db !== undefined) asked.push(['Postgres', () => timeOfPostgres(db)])
  if (redis !== undefined) asked.push(['Redis', () => timeOfRedis(redis)])
  if (asked.length === 0) return skip('not checked: neither Postgres nor Redis answers')
  const ahead = await Promise.all(asked.map(async ([name, ask]) => ({ name, ms: await aheadOfHost(ask) })))
  const found = `${ahead.map(({ name, ms }) => `${name} ${describe(ms)}`).join(', ')} from this host`
  const all = [0, ...ahead.map(({ ms }) => ms)]
  if (Math.max(...all) - Math.min(...all) <= maxDifferenceMs) return ok(found)
  return fail(found, 'synchronize all hosts with NTP (timedatectl, chronyc tracking)')
}

/** The shortest of three round trips, because the first ones also wait for connections. */
async function aheadOfHost(ask: () => Promise<number>): Promise<number> {
  const tries: { tookMs: number; ms: number }[] = []
  for (let count = 0; count < 3; count++) {
    const before = Date.now()
    const theirs = await ask()
    const after = Date.now()
    tries.push({ tookMs: after - before, ms: theirs - (before + after) / 2 })
  }
  return tries.toSorted((one, other) => one.tookMs - other.tookMs)[0]?.ms ?? 0
}

const describe = (ms: number): string => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1_000).toFixed(1)} s`

async function timeOfPostgres(db: Postgres): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`select clock_timestamp() as "nowMs"`.execute(db)
  return rows[0]?.nowMs ?? Number.NaN
}

async function timeOfRedis(redis: RedisClient): Promise<number> {
  const [node] = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const [seconds, microseconds] = (await node?.time()) ?? []
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000
}
