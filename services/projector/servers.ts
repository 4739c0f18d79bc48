import {
  checkTopics,
  connectKafka,
  countBrokers,
  type KafkaConnection,
  openProducer,
  type Producer,
} from '@tally/kafka'
import type { SeenEpoch } from '@tally/offsets'
import {
  type Metrics,
  type Outages,
  openRedis,
  pingPostgres,
  pingRedis,
  type ServiceDeps,
  type Settings,
  type Startup,
  watchParts,
} from '@tally/platform'
import { type ReadModel, readModelScripts, redisKeys } from '@tally/publication'
import { checkSchema, openPostgres } from '@tally/schema'

/** Time limit for closing what may hang on Kafka or Postgres: it must not delay leaving the group. */
export const hangsMs = 500

export type Servers = ReadModel & {
  /** The highest epoch and revision that this process has seen. */
  seen: SeenEpoch
  kafka: KafkaConnection
  producer: Producer
}

type Opened = { startup: Startup; outages: Outages; registry: Metrics; maxBatches: number }

/**
 * Connects to Postgres, Kafka and Redis, and waits until Postgres and Kafka answer; Redis may be down. Throws a
 * sentence if the schema or a topic is missing, or if the topics are not co-partitioned. `maxBatches`: how many batches
 * need a connection to Postgres at the same time.
 */
export async function openServers(
  settings: Settings,
  { lifecycle, logger }: Pick<ServiceDeps, 'lifecycle' | 'logger'>,
  { startup, outages, registry, maxBatches }: Opened,
): Promise<Servers> {
  const seen = { epoch: 0, revision: 0 }
  const db = openPostgres(settings.databaseUrl, {
    name: 'projector',
    max: maxBatches + 2,
    statementTimeoutMs: 30_000,
    lockTimeoutMs: 2_000,
    prepares: true,
    seen,
    onOpen: pool => registry.watchPool('projector', pool),
    onError: error => logger.debug({ err: error }, 'a connection to Postgres broke'),
  })
  lifecycle.onRelease('postgres', () => db.destroy(), hangsMs)
  const kafka = connectKafka(settings.kafka, { clientId: 'tally-projector', logger })
  lifecycle.onRelease('kafka', () => kafka.close())
  await Promise.all([
    startup.until('Postgres', () => checkSchema(db, 'projector')),
    startup.until('Kafka', () => checkTopics(kafka, settings.topicPrefix)),
  ])

  const redis = openRedis(settings.redisNodes, {
    name: 'projector',
    commandTimeoutMs: 5_000,
    onError: error => logger.debug({ err: error }, 'Redis does not answer'),
    scripts: readModelScripts,
  })
  lifecycle.onRelease('redis', () => redis.disconnect())
  const producer = await startup.until('Kafka', () => openProducer(kafka))
  lifecycle.onRelease('producer', () => producer.close())
  const probes = {
    Kafka: () => countBrokers(kafka),
    Postgres: () => pingPostgres(db),
    Redis: () => pingRedis(redis),
  }
  lifecycle.onRelease('watch of parts', watchParts(outages, probes))
  return { db, seen, redis, keys: redisKeys(settings.redisPrefix, settings.redisQuietMs), kafka, producer }
}
