import { type ApiKey, openAuthenticator, openRequestCounts, type RequestCounts } from '@tally/access'
import { topicNames } from '@tally/kafka/names'
import {
  listen,
  type Meanwhile,
  openServiceOps,
  type ServiceDeps,
  type Settings,
  whenReady,
} from '@tally/platform'
import { buildApp } from './app.ts'
import { hangsMs, openServers, queryReadiness, type Servers } from './connections/servers.ts'
import { type QueryMetrics, queryMetrics } from './http/metrics.ts'
import { drain } from './http/server.ts'
import { LimitExceeded } from './limits/limitDecision.ts'
import { createRateLimiter } from './limits/rateLimit.ts'
import { createGate } from './postgres/gate.ts'
import { createSharedReads } from './postgres/sharedReads.ts'
import { createBreaker } from './redis/breaker.ts'
import { createRequestBatches } from './redis/requestBatches.ts'
import { createEventList } from './views/eventList.ts'
import { createEventViews } from './views/eventViews.ts'
import { createStaleness, watchWatermarks } from './views/watermarks.ts'

/** How long requests in flight have after the drain: 5 s at most, and both together less than the 10 s of a stop. */
const lastAnswersMs = (drainMs: number): number => Math.min(5_000, 6_500 - drainMs)
/** Large pages of orders take up to 25 MiB each while they are composed. */
const largePagesOptions = { places: 1, placesOfOne: 1, waitingOfOne: 4, waitMs: 3_000 }
const gateOptions = { places: 6, placesOfOne: 4, waitingOfOne: 200, waitMs: 3_000 }

const meanwhile: Meanwhile = {
  Postgres: 'Figures and API keys come from Redis; lists of orders are answered 503',
  Redis: 'Answers come from Postgres',
}

/**
 * Starts a query process. It holds no state that another one would need, does not wait for Redis or Postgres, and ends
 * if Postgres answers with another schema version.
 *
 * Each stage uses the ones before it, and the lifecycle closes them in reverse order:
 *
 * 1. the operations port;
 * 2. the connections to Postgres and Redis;
 * 3. authentication, the request batches and the readers;
 * 4. the API.
 */
export async function startQuery(settings: Settings, service: ServiceDeps): Promise<void> {
  const { lifecycle, logger } = service
  const ops = { defaultPort: 9091, meanwhile }
  const { registry, startup, outages, started } = await openServiceOps('query', settings.ops, ops, service) // 1
  const metrics = queryMetrics(registry)
  const servers = await openServers(settings, service, { startup, outages, metrics: registry }) // 2
  const { redis, keys, authDb } = servers
  const counts = openRequestCounts({ redis, keys, logger })
  lifecycle.onRelease('counts of requests', () => counts.close(), hangsMs)
  const deps = openRequestDeps(settings, service, { servers, metrics, counts }) // 3

  // 4
  const { app, stopDirect } = await buildApp(deps, {
    edition: settings.edition,
    corsOrigins: settings.corsOrigins,
    contact: settings.query.contact,
    maxConnections: settings.query.maxConnections,
    idleTimeoutMs: settings.query.idleTimeoutMs,
    logger,
    metrics,
    counts,
  })
  const { drainMs } = settings.query
  lifecycle.onRelease('api', () => app.close(), lastAnswersMs(drainMs))
  lifecycle.onDrain(() => drain(app.server, drainMs, stopDirect))
  // So that the first requests are counted in Redis like all others.
  await whenReady(redis, 2_000)
  const address = await listen(app, settings.query, 'QUERY')
  started(queryReadiness({ redis, db: authDb }), { address })
}

function openRequestDeps(
  settings: Settings,
  { lifecycle, logger }: ServiceDeps,
  { servers, metrics, counts }: { servers: Servers; metrics: QueryMetrics; counts: RequestCounts },
): Parameters<typeof buildApp>[0] {
  const { db, authDb, redis, keys } = servers
  const { events, orders, refunds } = topicNames(settings.topicPrefix)
  const topics = [events, orders, refunds]
  const onFailure = (error: unknown) => {
    if (error instanceof LimitExceeded) return
    metrics.failures.inc()
    logger.debug({ err: error }, 'Redis or Postgres failed')
  }
  const breaker = createBreaker({
    redis,
    onFailure,
    onWritable(isWritable, error) {
      metrics.redisRefusesWrites.set(isWritable ? 0 : 1)
      if (isWritable) logger.info({}, 'Redis accepts writes again')
      else logger.error({ err: error }, 'Redis refuses writes, so Postgres answers: free its memory or disk')
    },
  })
  const onBatch = (requests: number) => metrics.batchRequests.observe(requests)
  const batches = createRequestBatches({ redis, keys, topics, breaker, onBatch }, settings.rateLimits)
  const limiter = createRateLimiter({ db: authDb, redis, keys, batches, breaker }, settings.rateLimits)
  const onOver = (key: ApiKey) => counts.note(key, 401)
  const authenticator = openAuthenticator({ db: authDb, redis, keys, logger, onOver })
  lifecycle.onRelease('authenticator', () => authenticator.close(), hangsMs)
  const watermarks = watchWatermarks({ db: authDb, topics, onSilent: breaker.rely, onFailure })
  lifecycle.onRelease('watermarks', () => watermarks.close(), hangsMs)
  metrics.watchAsOf(watermarks.ages)

  const shared = createSharedReads(createGate(gateOptions))
  const isBehind = createStaleness({ redis, keys, topics, watermarks })
  const list = createEventList({ db, redis, keys, breaker, shared, isBehind, onFailure })
  const views = createEventViews({
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
  const largePages = createGate(largePagesOptions)
  return {
    authenticator,
    limiter,
    batches,
    watermarks,
    readers: { views, list, db, shared, largePages, topics, onFailure },
  }
}
