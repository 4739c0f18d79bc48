import type { RecordType } from '@tally/contract'
import { openDeadLetters } from '@tally/dead-letters'
import {
  checkTopics,
  connectKafka,
  consumeBatches,
  describeTopics,
  openProducer,
  type TopicPartition,
  topicNames,
} from '@tally/kafka'
import { logInternal } from '@tally/projection'
import { checkSchema, openPostgres, readModelScripts, redisKeys } from '@tally/read-models'
import {
  openMetrics,
  openOps,
  openStartup,
  type Readiness,
  type ServiceDeps,
  type Settings,
} from '@tally/runtime'
import { openRedis } from '@tally/storage'
import { openLogs } from './logs/openLogs.ts'
import { warnOfRetention } from './logs/topicSettings.ts'
import { watchLogs } from './logs/watchLogs.ts'
import { projectorMetrics } from './metrics.ts'
import { onBatch } from './onBatch.ts'
import { openPartitionCheck } from './partitioner.ts'
import { openPublisher } from './publish/publisher.ts'
import { openAsOf } from './watch/asOf.ts'
import { openRefusals } from './watch/refusals.ts'
import { openWalk } from './watch/walk.ts'
import { type Watch, watch } from './watch/watch.ts'

/** Batches of different partitions processed at the same time: while one waits for Postgres, another is decoded. */
const concurrency = 4
/** Time limit for closing what may hang on Kafka or Postgres: it must not delay leaving the group. */
const hangsMs = 500

/**
 * Opens all parts of a projector and starts it, as soon as Postgres and Kafka answer. Throws a sentence if the schema
 * or a topic is missing, or the topics are not co-partitioned; `crash` is called with fatal errors.
 */
export async function startProjector(
  settings: Settings,
  { lifecycle, logger, crash }: ServiceDeps,
): Promise<void> {
  const names = topicNames(settings.topicPrefix)
  const types = new Map<string, RecordType>([
    [names.organizations, 'organizations'],
    [names.events, 'events'],
    [names.orders, 'orders'],
    [names.refunds, 'refunds'],
  ])
  const topics = [...types.keys()]
  const registry = openMetrics()
  const metrics = projectorMetrics(registry)
  const startup = openStartup(lifecycle, logger)
  let readiness: Readiness = () => startup.missing() ?? 'starting'
  const ops = await openOps(
    lifecycle,
    { host: settings.ops.host, port: settings.ops.port ?? 9090 },
    { metrics: registry, readiness: () => readiness() },
  )
  logger.info({ ops }, 'projector starting')

  const seen = { epoch: 0, revision: 0 }
  const db = openPostgres(settings.databaseUrl, {
    name: 'projector',
    max: concurrency + 2,
    statementTimeoutMs: 30_000,
    lockTimeoutMs: 2_000,
    prepares: true,
    seen,
    onError: error => logger.warn({ err: error }, 'a connection to Postgres broke'),
  })
  lifecycle.onRelease('postgres', () => db.destroy(), hangsMs)
  const kafka = connectKafka(settings.kafka, { clientId: 'tally-projector', logger })
  lifecycle.onRelease('kafka', () => kafka.close())
  await Promise.all([
    startup.until('Postgres', () => checkSchema(db)),
    startup.until('Kafka', () => checkTopics(kafka, settings.topicPrefix)),
  ])

  const redis = openRedis(
    settings.redisNodes,
    {
      name: 'projector',
      commandTimeoutMs: 5_000,
      onError: error => logger.debug({ err: error }, 'Redis does not answer'),
    },
    readModelScripts,
  )
  lifecycle.onRelease('redis', () => redis.disconnect())
  const keys = redisKeys(settings.redisPrefix)
  let watching: Watch | undefined
  const publisher = openPublisher({
    db,
    redis,
    keys,
    organizationsTopic: names.organizations,
    // Its watermarks were dropped: raise them again at once.
    onNewEpoch: () => watching?.soon(),
    onPublished: tookMs => metrics.publishSeconds.observe(tookMs / 1000),
  })
  const asOf = openAsOf({ db, redis, keys, topics })
  const partitioner = openPartitionCheck()
  const walk = openWalk({
    db,
    redis,
    keys,
    publisher,
    eventsTopic: names.events,
    organizationsTopic: names.organizations,
  })

  const producer = await startup.until('Kafka', () => openProducer(kafka))
  lifecycle.onRelease('producer', () => producer.close())

  void warnOfRetention(kafka, topics, logger)
  const logs = openLogs({ kafka, db, topics, metrics, logger, onMoved: asOf.applied })

  const refusals = openRefusals({ metrics, logger })
  let assigned: TopicPartition[] = []
  watching = watch({
    kafka,
    db,
    publisher,
    asOf,
    seen,
    walk,
    topics,
    assigned: () => assigned,
    isSound: logs.isSound,
    isHeld: logs.isHeld,
    refusals,
    learn: partitioner.learn,
    seek: ({ topic, partition }, offset) => consumer.seek(topic, partition, offset),
    metrics,
    logger,
  })
  lifecycle.onRelease('watch', () => watching?.stop(), hangsMs)

  const consumer = await consumeBatches(kafka, {
    groupId: settings.kafkaGroupId,
    topics,
    concurrency,
    onBatch: onBatch({
      project: {
        db,
        deadLetters: openDeadLetters(producer, names.deadLetters),
        onInternal: (at, error) => logInternal(logger, at, error),
        verify: logs.verify,
        hasForeign: partitioner.hasForeign,
      },
      types,
      publisher,
      asOf,
      metrics,
      logger,
      crash,
    }),
    async onAssigned(assignment) {
      partitioner.learn(await describeTopics(kafka, topics))
      const mine = [...assignment].flatMap(([topic, partitions]) =>
        partitions.map(partition => ({ topic, partition })),
      )
      asOf.keep(mine)
      const starts = await logs.assigned(assignment)
      assigned = mine
      logger.info({ partitions: mine.length }, 'partitions assigned')
      return starts
    },
    onOutOfLog: logs.outOfLog,
    onCrash: crash,
  })
  lifecycle.onRelease('consumer', () => consumer.stop())
  logs.attach(consumer)
  lifecycle.onRelease('logs', watchLogs({ logs, metrics, logger }), hangsMs)

  readiness = () => {
    const { joined, lastFetchMs, lastError } = consumer.state()
    if (!joined) return 'not in the consumer group yet'
    const stalled = logs.notReady()
    if (stalled !== undefined) return stalled
    if (refusals.notReady() !== undefined) return refusals.notReady()
    if (lastError !== undefined) return 'caught in an error; it tries again'
    return lastFetchMs > 30_000 ? 'Kafka has not answered for 30 s' : undefined
  }
  logger.info({ ops }, 'projector started')
}
