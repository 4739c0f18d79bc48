import { type AccessKeys, accessKeys } from '@tally/access'
import {
  type Metrics,
  type Outages,
  openRedis,
  type Postgres,
  pingPostgres,
  pingRedis,
  type RedisClient,
  type ServiceDeps,
  type Settings,
  type Startup,
  silenceOf,
  watchParts,
} from '@tally/platform'
import { type RedisKeys, redisKeys } from '@tally/publication'
import { checkSchema, openPostgres } from '@tally/schema'
import { type QueryRedis, queryScripts } from '../redis/askBatch.ts'

/** Time limit for closing what may hang: all together stay below the 10 s of docs/reference.md, Commands. */
export const hangsMs = 500
/** The timeout of a command. Requests stop waiting earlier, unless Postgres is down too (breaker.ts). */
const redisTimeoutMs = 1_000
/** Connections to Postgres for reads: those of the gate, and two for repairs. */
const readConnections = 8
/** Connections for keys, the rate limit and polls. */
const authConnections = 4

export type Servers = {
  db: Postgres
  /** For authentication and the rate limit, which never wait for reads. */
  authDb: Postgres
  redis: QueryRedis
  keys: RedisKeys & AccessKeys
}

/**
 * Connects to Postgres and Redis. Does not wait for one that does not answer; calls `crash` if Postgres answers later
 * with another schema version, and throws if it does so at once.
 */
export async function openServers(
  settings: Settings,
  { lifecycle, logger, crash }: ServiceDeps,
  { startup, outages, metrics }: { startup: Startup; outages: Outages; metrics: Metrics },
): Promise<Servers> {
  const openPool = (name: string, max: number) => {
    const pool = openPostgres(settings.databaseUrl, {
      name: 'query',
      max,
      statementTimeoutMs: 5_000,
      onlyReads: true,
      onOpen: pool => metrics.watchPool(name, pool),
      onError: error => logger.debug({ err: error }, 'a connection to Postgres broke'),
    })
    lifecycle.onRelease('postgres', () => pool.destroy(), hangsMs)
    return pool
  }
  const db = openPool('reads', readConnections)
  const authDb = openPool('keys and limits', authConnections)
  const watch = (probes: Parameters<typeof watchParts>[1]) =>
    lifecycle.onRelease('watch of parts', watchParts(outages, probes))
  const schemaChecked = startup.until('Postgres', () => checkSchema(db))
  await Promise.race([schemaChecked, startup.waits])
  // Until then, the check says whether Postgres answers.
  schemaChecked.then(() => watch({ Postgres: () => pingPostgres(authDb) })).catch(crash)

  const redis = openRedis(
    settings.redisNodes,
    {
      name: 'query',
      commandTimeoutMs: redisTimeoutMs,
      onError: error => logger.debug({ err: error }, 'Redis does not answer'),
      // Request batches are few large commands, and none is to wait for the one before.
      autoPipelining: false,
    },
    queryScripts,
  )
  lifecycle.onRelease('redis', () => redis.disconnect())
  watch({ Redis: () => pingRedis(redis) })
  const keys = {
    ...redisKeys(settings.redisPrefix, settings.redisQuietMs),
    ...accessKeys(settings.redisPrefix),
  }
  return { db, authDb, redis, keys }
}

/** For each of the two: together they stay below 1 s, the default timeout of a Kubernetes probe. */
const answerTimeoutMs = 400

/**
 * Whether a query process can answer at all: either Redis or Postgres is enough, so it is unready only without both. It
 * asks Postgres only if Redis does not answer.
 */
export function queryReadiness({ redis, db }: { redis: RedisClient; db: Postgres }) {
  return async (): Promise<string | undefined> => {
    const noRedis = await silenceOf(answerTimeoutMs, () => pingRedis(redis))
    if (noRedis === undefined) return undefined
    const noPostgres = await silenceOf(answerTimeoutMs, () => pingPostgres(db))
    if (noPostgres === undefined) return undefined
    return `neither Redis (${noRedis}) nor Postgres (${noPostgres}) answers`
  }
}
