import { accessKeys, accessScripts, passwordCost } from '@tally/access'
import { connectKafka, topicNames } from '@tally/kafka'
import {
  listen,
  type Meanwhile,
  openRedis,
  openServiceOps,
  type Postgres,
  pingPostgres,
  pingRedis,
  type ServiceDeps,
  type Settings,
  SettingsError,
  silenceOf,
  watchParts,
  whenReady,
} from '@tally/platform'
import { readModelScripts, redisKeys } from '@tally/publication'
import { checkSchema, openPostgres } from '@tally/schema'
import { buildAdmin } from './app.ts'
import { openLiveHub } from './live/hub.ts'
import { checkEveryMs } from './live/stream.ts'
import { adminMetrics } from './metrics.ts'
import { openLastHour, takeSample } from './operations/lastHour.ts'
import { createSealer } from './secondFactor/codes.ts'
import { sealSecrets } from './secondFactor/secrets.ts'
import { createOidc } from './signIn/oidc.ts'
import { createPasswordQueue } from './signIn/passwordQueue.ts'
import { createRecall } from './signIn/recall.ts'
import { forgetEnded } from './signIn/sessions.ts'

const forgetEveryMs = 10 * 60_000

const meanwhile: Meanwhile = {
  Postgres: 'Live screens that are open and the operations page go on; other pages ask to try again',
  Redis: 'Live screens read from Postgres; counts of requests are not shown',
}

/** How long Postgres may take to answer before the area counts as not ready. */
const readyTimeoutMs = 800

/**
 * Opens what the administration area needs and starts it. The process holds no state that another one would need. While
 * Postgres does not answer, it is not ready and its pages say so. Throws SettingsError if a second factor is required
 * and there is no key to encrypt its secrets.
 */
export async function startAdmin(settings: Settings, service: ServiceDeps): Promise<void> {
  const { lifecycle, logger, crash } = service
  const { admin, redisPrefix } = settings
  const sealer = createAdminSealer(admin)
  const ops = { defaultPort: 9092, meanwhile }
  const { registry, startup, outages, started } = await openServiceOps('admin', settings.ops, ops, service)
  const db = openPostgres(settings.databaseUrl, {
    name: 'admin',
    max: 8,
    statementTimeoutMs: 10_000,
    onlyReads: true,
    onOpen: pool => registry.watchPool('admin', pool),
    onError: error => logger.debug({ err: error }, 'a connection to Postgres broke'),
  })
  lifecycle.onRelease('postgres', () => db.destroy())
  const schemaChecked = startup.until('Postgres', () => prepareSchema(db, sealer, logger))
  await Promise.race([schemaChecked, startup.waits])
  const watch = (probes: Parameters<typeof watchParts>[1]) =>
    lifecycle.onRelease('watch of parts', watchParts(outages, probes))
  // Until then, the check says whether Postgres answers.
  schemaChecked.then(() => watch({ Postgres: () => pingPostgres(db) })).catch(crash)

  const redis = openAdminRedis(settings, logger)
  lifecycle.onRelease('redis', () => redis.disconnect())
  watch({ Redis: () => pingRedis(redis) })
  const keys = { ...redisKeys(redisPrefix, settings.redisQuietMs), ...accessKeys(redisPrefix) }

  const { events, orders, refunds } = topicNames(settings.topicPrefix)
  const live = openLiveHub({ db, redis, keys, topics: [events, orders, refunds], logger })
  lifecycle.onRelease('live screens', () => live.close())

  lifecycle.onRelease('forgetting', forgetEndedSessions(db, logger))

  const app = await buildAdmin({
    db,
    redis,
    keys,
    live,
    ...openForOperations(settings, service, db),
    logger,
    recall: createRecall(),
    oidc: admin.oidc === undefined ? undefined : createOidc(admin.oidc),
    allowsPasswords: admin.allowsPasswords,
    passwordCost,
    queuePasswordHash: createPasswordQueue(),
    requiresSecondFactor: admin.requiresSecondFactor,
    sealer,
    metrics: adminMetrics(registry),
    topicPrefix: settings.topicPrefix,
    rateLimits: settings.rateLimits,
    apiUrl: admin.apiUrl,
    contact: settings.query.contact,
    publicUrl: admin.url,
    trustedProxies: admin.trustedProxies,
    screenCheckMs: checkEveryMs,
    maxConnections: admin.maxConnections,
    idleTimeoutMs: admin.idleTimeoutMs,
  })
  lifecycle.onRelease('pages', () => app.close())
  await whenReady(redis, 2_000)
  const address = await listen(app, admin, 'ADMIN')
  started(
    async () => {
      const reason = await silenceOf(readyTimeoutMs, () => pingPostgres(db))
      return reason && `waiting for Postgres (${reason})`
    },
    { address },
  )
}

/** What the operations page alone has: all other pages work without Kafka. */
function openForOperations(
  { kafka: address, topicPrefix }: Settings,
  { lifecycle, logger }: ServiceDeps,
  db: Postgres,
) {
  const kafka = connectKafka(address, { clientId: 'tally-admin', logger })
  lifecycle.onRelease('kafka', () => kafka.close())
  const lastHour = openLastHour(() => takeSample({ db, kafka, topicPrefix }))
  lifecycle.onRelease('last hour', lastHour.close)
  return { kafka, lastHour: lastHour.samples }
}

function openAdminRedis(settings: Settings, logger: ServiceDeps['logger']) {
  return openRedis(settings.redisNodes, {
    name: 'admin',
    commandTimeoutMs: 500,
    onError: error => logger.debug({ err: error }, 'Redis does not answer'),
    scripts: { ...readModelScripts, ...accessScripts },
  })
}

/** Deletes ended sessions from time to time; returns what stops that. */
function forgetEndedSessions(db: Postgres, logger: ServiceDeps['logger']): () => void {
  const forgetting = setInterval(() => {
    forgetEnded(db).catch(error =>
      logger.debug({ err: error }, 'ended sessions were not deleted; trying again later'),
    )
  }, forgetEveryMs)
  return () => clearInterval(forgetting)
}

function createAdminSealer(admin: Settings['admin']) {
  const sealer = createSealer(admin.secretKeys)
  if (admin.requiresSecondFactor && admin.allowsPasswords && sealer === undefined)
    throw new SettingsError(
      'ADMIN_SECOND_FACTOR is "required", and there is no key to encrypt its secrets: set ADMIN_SECRET_KEY too (openssl rand -hex 32)',
      ['ADMIN_SECOND_FACTOR', 'ADMIN_SECRET_KEY'],
    )
  return sealer
}

/** Checks the schema, and encrypts secrets of second factors with the newest key. */
async function prepareSchema(
  db: Postgres,
  sealer: ReturnType<typeof createSealer>,
  logger: ServiceDeps['logger'],
): Promise<void> {
  await checkSchema(db, 'admin')
  const unopened = await sealSecrets(db, sealer)
  if (unopened > 0)
    logger.warn(
      { administrators: unopened },
      'no key in ADMIN_SECRET_KEY opens the second factors of some administrators: only their recovery codes work',
    )
}
