import {
  type AccessKeys,
  type ApiKey,
  accessKeys,
  openAuthenticator,
  openRequestCounts,
  type RequestCounts,
} from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { topicNames } from '@tally/kafka/names'
import {
  causesOf,
  isSqlState,
  isUnreachable,
  listen,
  type Meanwhile,
  type Metrics,
  type Outages,
  oncePerMinute,
  openRedis,
  openServiceOps,
  type Postgres,
  pingPostgres,
  pingRedis,
  type RedisClient,
  reasonOf,
  type ServiceDeps,
  type Settings,
  type Startup,
  silenceOf,
  watchParts,
  whenReady,
} from '@tally/platform'
import { publishOrganizations, type RedisKeys, redisKeys } from '@tally/publication'
import { checkSchema, openPostgres } from '@tally/schema'
import { type AppDeps, buildApp } from './app.ts'
import { type QueryMetrics, queryMetrics } from './http/metrics.ts'
import { drain } from './http/server.ts'
import { LimitExceeded } from './limits/limitDecision.ts'
import { createRateLimiter } from './limits/rateLimit.ts'
import { createGate, Overloaded } from './postgres/gate.ts'
import { createSharedReads } from './postgres/sharedReads.ts'
import { type QueryRedis, queryScripts } from './redis/askBatch.ts'
import { createBreaker } from './redis/breaker.ts'
import { createRequestBatches } from './redis/requestBatches.ts'
import { createEventList } from './views/eventList.ts'
import { createEventViews } from './views/eventViews.ts'
import { createRepairs } from './views/repairs.ts'
import { createStaleness, watchWatermarks } from './views/watermarks.ts'

/** How long requests in flight have after the drain: 5 s at most, and both together less than the 10 s of a stop. */
const lastAnswersMs = (drainMs: number): number => Math.min(5_000, 6_500 - drainMs)
/** Large pages of orders take up to 20 MiB each while they are composed. */
const largePagesOptions = { places: 1, placesOfOne: 1, waitingOfOne: 4, waitMs: 3_000 }
/** Pages that take longer than `afterMs` are not read again at once: that doubled the p99 of others. */
const cooldownOptions = { afterMs: 20, mostMs: 1_000 }
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
): AppDeps {
  const { db, authDb, redis, keys } = servers
  const { events, orders, refunds } = topicNames(settings.topicPrefix)
  const topics = [events, orders, refunds]
  const refusals = oncePerMinute<unknown>((reason, count, err) =>
    logger.warn({ err, count }, `Postgres could not answer a read (${reason}): a 503, unless Redis answered`),
  )
  const onFailure = (error: unknown) => {
    if (error instanceof LimitExceeded) return
    metrics.failures.inc()
    // A part that does not answer is logged as an outage.
    const isRefusal = error instanceof Overloaded || causesOf(error).some(({ code }) => isSqlState(code))
    if (isRefusal && !isUnreachable(error)) refusals.note(reasonOf(error), 1, error)
    else logger.debug({ err: error }, 'Redis or Postgres failed')
  }
  const breaker = createBreaker({
    redis,
    onFailure,
    onWritable(isWritable, error) {
      if (isWritable) logger.info({}, 'Redis accepts writes again')
      else logger.error({ err: error }, 'Redis refuses writes, so Postgres answers: free its memory or disk')
    },
  })
  metrics.watchRefusals(breaker.refusedLately)
  const onBatch = metrics.batchRequests.observe
  const batches = createRequestBatches({ redis, keys, topics, breaker, onBatch }, settings.rateLimits)
  const repair = createRepairs<OrganizationId>(1, id => publishOrganizations(servers, [id]), onFailure)
  const limiter = createRateLimiter({ db: authDb, batches, breaker, repair }, settings.rateLimits)
  const onOver = (key: ApiKey) => counts.note(key, 401)
  const watermarks = watchWatermarks({ db: authDb, topics, onSilent: breaker.forceClosed, onFailure })
  lifecycle.onRelease('watermarks', () => watermarks.close(), hangsMs)
  const authenticator = openAuthenticator({ db: authDb, redis, keys, logger, onOver, now: watermarks.now })
  lifecycle.onRelease('authenticator', () => authenticator.close(), hangsMs)
  metrics.watchAsOf(watermarks.ages)

  const gate = createGate(gateOptions)
  const shared = createSharedReads(gate)
  const isRedisStale = createStaleness({ redis, keys, topics, watermarks })
  const list = createEventList({ db, redis, keys, breaker, shared, isRedisStale, repair, onFailure })
  const views = createEventViews({
    db,
    redis,
    keys,
    batches,
    breaker,
    shared,
    watermarks,
    topics,
    onSource: metrics.countSource,
    onFailure,
    listedEvents: list.listed,
  })
  const ofOrders = createSharedReads(gate, cooldownOptions)
  const largePages = createGate(largePagesOptions)
  return {
    authenticator,
    limiter,
    batches,
    watermarks,
    readers: { views, list, db, shared: ofOrders, largePages, topics, onFailure },
  }
}

/** Time limit for closing what may hang: all together stay below the 10 s of docs/reference.md, Commands. */
const hangsMs = 500
/** The timeout of a command. Requests stop waiting earlier, unless Postgres is down too (breaker.ts). */
const redisTimeoutMs = 1_000
/** Connections to Postgres for reads: those of the gate, and two for repairs, of which three run at most. */
const readConnections = 8
/** Connections for keys, the rate limit and polls. */
const authConnections = 4

type Servers = {
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
async function openServers(
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
  const schemaChecked = startup.until('Postgres', () => checkSchema(db, 'query'))
  await Promise.race([schemaChecked, startup.waits])
  // Until then, the check says whether Postgres answers.
  schemaChecked.then(() => watch({ Postgres: () => pingPostgres(authDb) })).catch(crash)

  const redis = openRedis(settings.redisNodes, {
    name: 'query',
    commandTimeoutMs: redisTimeoutMs,
    onError: error => logger.debug({ err: error }, 'Redis does not answer'),
    // Request batches are few large commands, and none is to wait for the one before.
    autoPipelining: false,
    scripts: queryScripts,
  })
  lifecycle.onRelease('redis', () => redis.disconnect())
  watch({ Redis: () => pingRedis(redis) })
  const keys = {
    ...redisKeys(settings.redisPrefix, settings.redisQuietMs),
    ...accessKeys(settings.redisPrefix),
  }
  return { db, authDb, redis, keys }
}

/** For each of the two: together they stay below 1 s, the default timeout of a Kubernetes probe. */
const readyTimeoutMs = 400

/**
 * Whether a query process can answer at all: either Redis or Postgres is enough, so it is unready only without both. It
 * asks Postgres only if Redis does not answer.
 */
function queryReadiness({ redis, db }: { redis: RedisClient; db: Postgres }) {
  return async (): Promise<string | undefined> => {
    const noRedis = await silenceOf(readyTimeoutMs, () => pingRedis(redis))
    if (noRedis === undefined) return undefined
    const noPostgres = await silenceOf(readyTimeoutMs, () => pingPostgres(db))
    if (noPostgres === undefined) return undefined
    return `neither Redis (${noRedis}) nor Postgres (${noPostgres}) answers`
  }
}
