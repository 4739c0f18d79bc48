import { type ApiKey, openAuthenticator, openRequestCounts } from '@tally/api-keys'
import { topicNames } from '@tally/kafka'
import { checkSchema, openPostgres, openRedis, redisKeys, whenReady } from '@tally/read-models'
import { openMetrics, openOps, type ServiceParts, type Settings } from '@tally/runtime'
import { buildApp } from './app.ts'
import { openBreaker } from './breaker.ts'
import { queryMetrics } from './metrics.ts'
import { openRateLimiter } from './rateLimit.ts'
import { openRedisTurns } from './redisTurns.ts'
import { openEventList } from './views/eventList.ts'
import { openEventViews } from './views/eventViews.ts'

/** How long Redis may take for one command: far more than it needs, so that a busy process is not taken for a dead Redis. */
const redisTimeoutMs = 500

/** Opens all parts of a query process and starts it; it keeps nothing that another one would need. */
export async function startQuery(settings: Settings, { lifecycle, logger }: ServiceParts): Promise<void> {
  const registry = openMetrics()
  const metrics = queryMetrics(registry)
  const onFailure = (error: unknown) => {
    metrics.failures.inc()
    logger.debug({ err: error }, 'a part does not answer')
  }

  const db = openPostgres(settings.databaseUrl, {
    name: 'query',
    max: 8,
    statementTimeoutMs: 5_000,
    onError: error => logger.warn({ err: error }, 'a connection to Postgres broke'),
  })
  lifecycle.onRelease('postgres', () => db.destroy())
  await checkSchema(db)

  const redis = openRedis(settings.redisNodes, {
    name: 'query',
    commandTimeoutMs: redisTimeoutMs,
    onError: error => logger.debug({ err: error }, 'Redis does not answer'),
  })
  lifecycle.onRelease('redis', () => redis.disconnect())

  const keys = redisKeys(settings.redisPrefix)
  const { events, orders, refunds } = topicNames(settings.topicPrefix)
  const topics = [events, orders, refunds]
  const breaker = openBreaker(onFailure)
  const turns = openRedisTurns({ redis, keys, topics, breaker }, settings.rateLimits)
  const counts = openRequestCounts({ redis, keys, logger })
  lifecycle.onRelease('counts of requests', () => counts.close())
  const onOver = (key: ApiKey) => counts.note(key, 401)
  const authenticator = openAuthenticator({ db, redis, keys, logger, onOver })
  lifecycle.onRelease('authenticator', () => authenticator.close())
  const list = openEventList({ db, redis, keys, breaker, onFailure })
  const views = openEventViews({
    db,
    redis,
    keys,
    turns,
    breaker,
    topics,
    onSource: source => metrics.source.labels({ source }).inc(),
    onFailure,
    listedEvents: list.listed,
  })
  const takeRequest = openRateLimiter({ db, redis, keys, turns }, settings.rateLimits)

  const app = await buildApp(
    { authenticator, takeRequest, readers: { views, list, db, onFailure }, turns },
    {
      edition: settings.edition,
      corsOrigins: settings.corsOrigins,
      maxConnections: settings.query.maxConnections,
      logger,
      metrics,
      counts,
    },
  )
  const ops = await openOps(
    lifecycle,
    { host: settings.ops.host, port: settings.ops.port ?? 9091 },
    { metrics: registry, readiness: () => undefined },
  )
  lifecycle.onRelease('api', () => app.close())
  // The first requests count in Redis like all others, if it is there.
  await whenReady(redis, 2_000)
  const { host, port } = settings.query
  const address = await app.listen({ host, port })
  logger.info({ address, ops }, 'query started')
}
