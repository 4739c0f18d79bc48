import { type ApiKey, accessKeys, accessScripts, openAuthenticator, openRequestCounts } from '@tally/access'
import { topicNames } from '@tally/kafka'
import { checkSchema, openPostgres, readModelScripts, redisKeys } from '@tally/read-models'
import { openMetrics, openOps, openStartup, type ServiceDeps, type Settings } from '@tally/runtime'
import { openRedis, whenReady } from '@tally/storage'
import { buildApp } from './app.ts'
import { queryMetrics } from './metrics.ts'
import { Refused } from './permit.ts'
import { openGate } from './postgres/gate.ts'
import { openSharedReads } from './postgres/sharedReads.ts'
import { queryReadiness } from './readiness.ts'
import { openBreaker } from './redis/breaker.ts'
import { openRateLimiter } from './redis/rateLimit.ts'
import { openRequestBatches } from './redis/requestBatches.ts'
import { openEventList } from './views/eventList.ts'
import { openEventViews } from './views/eventViews.ts'
import { watchWatermarks } from './views/watermarks.ts'

/** The timeout of a command. Requests stop waiting earlier, unless Postgres is down too (breaker.ts). */
const redisTimeoutMs = 1_000

/** Connections to Postgres for reads: those of the gate, and two for repairs. */
const readConnections = 8
/** How long closing waits for a part that hangs: all together stay below the 10 s of docs/operations.md, Commands. */
const hangsMs = 1_000
/** How long requests in flight may take once the process is ending. */
const lastAnswersMs = 5_000
const gateOptions = { places: 6, placesOfOne: 4, waitingOfOne: 200, waitMs: 3_000 }
/** Connections for keys, the rate limit and polls. */
const authConnections = 4

/**
 * Opens what a query process needs and starts it. The process holds no state that another one would need. It does not wait
 * for Redis or Postgres, and ends if Postgres answers with another schema version.
 */
export async function startQuery(
  settings: Settings,
  { lifecycle, logger, crash }: ServiceDeps,
): Promise<void> {
  const registry = openMetrics()
  const startup = openStartup(lifecycle, logger)
  let readiness: () => Promise<string | undefined> = async () => startup.missing() ?? 'starting'
  const ops = await openOps(
    lifecycle,
    { host: settings.ops.host, port: settings.ops.port ?? 9091 },
    { metrics: registry, readiness: () => readiness() },
  )
  logger.info({ ops }, 'query starting')
  const metrics = queryMetrics(registry)
  const onFailure = (error: unknown) => {
    if (error instanceof Refused) return
    metrics.failures.inc()
    logger.debug({ err: error }, 'Redis or Postgres failed')
  }

  const openPool = (max: number) => {
    const pool = openPostgres(settings.databaseUrl, {
      name: 'query',
      max,
      statementTimeoutMs: 5_000,
      onlyReads: true,
      onError: error => logger.warn({ err: error }, 'a connection to Postgres broke'),
    })
    lifecycle.onRelease('postgres', () => pool.destroy(), hangsMs)
    return pool
  }
  const db = openPool(readConnections)
  // For authentication and the rate limit, which never wait for reads.
  const authDb = openPool(authConnections)
  const schemaChecked = startup.until('Postgres', () => checkSchema(db))
  await Promise.race([schemaChecked, startup.waits])
  schemaChecked.catch(crash)

  const redis = openRedis(
    settings.redisNodes,
    {
      name: 'query',
      commandTimeoutMs: redisTimeoutMs,
      onError: error => logger.debug({ err: error }, 'Redis does not answer'),
    },
    { ...readModelScripts, ...accessScripts },
  )
  lifecycle.onRelease('redis', () => redis.disconnect())

  const keys = { ...redisKeys(settings.redisPrefix), ...accessKeys(settings.redisPrefix) }
  const { events, orders, refunds } = topicNames(settings.topicPrefix)
  const topics = [events, orders, refunds]
  const breaker = openBreaker({
    redis,
    onFailure,
    onWritable(isWritable, error) {
      metrics.redisRefusesWrites.set(isWritable ? 0 : 1)
      if (isWritable) logger.info({}, 'Redis accepts writes again')
      else logger.error({ err: error }, 'Redis refuses writes, so Postgres answers: free its memory or disk')
    },
  })
  const batches = openRequestBatches({ redis, keys, topics, breaker }, settings.rateLimits)
  const counts = openRequestCounts({ redis, keys, logger })
  lifecycle.onRelease('counts of requests', () => counts.close(), hangsMs)
  const onOver = (key: ApiKey) => counts.note(key, 401)
  const authenticator = openAuthenticator({ db: authDb, redis, keys, logger, onOver })
  lifecycle.onRelease('authenticator', () => authenticator.close(), hangsMs)
  const shared = openSharedReads(openGate(gateOptions))
  const watermarks = watchWatermarks({ db: authDb, topics, onSilent: breaker.rely, onFailure })
  lifecycle.onRelease('watermarks', () => watermarks.close(), hangsMs)
  const list = openEventList({ db, redis, keys, breaker, shared, onFailure })
  const views = openEventViews({
    db,
    redis,
    keys,
    batches,
    breaker,
    shared,
    watermarks,
    topics,
    onSource: source => metrics.source.labels({ source }).inc(),
    onFailure,
    listedEvents: list.listed,
  })
  const takeRequest = openRateLimiter({ db: authDb, redis, keys, batches, breaker }, settings.rateLimits)

  const app = await buildApp(
    { authenticator, takeRequest, readers: { views, list, db, shared, topics, onFailure }, batches },
    {
      edition: settings.edition,
      corsOrigins: settings.corsOrigins,
      maxConnections: settings.query.maxConnections,
      logger,
      metrics,
      counts,
    },
  )
  lifecycle.onRelease('api', () => app.close(), lastAnswersMs)
  // So that the first requests are counted in Redis like all others.
  await whenReady(redis, 2_000)
  const { host, port } = settings.query
  const address = await app.listen({ host, port })
  readiness = queryReadiness({ redis, db: authDb })
  logger.info({ address, ops }, 'query started')
}
