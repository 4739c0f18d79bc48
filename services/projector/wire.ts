import { createDeadLetters } from '@tally/dead-letters'
import { type Consumer, recordTopics, type TopicNames, type TopicPartition, topicNames } from '@tally/kafka'
import {
  type Meanwhile,
  oncePerMinute,
  openServiceOps,
  partNames,
  partOf,
  reasonOf,
  type ServiceDeps,
  type Settings,
} from '@tally/platform'
import { consume, createPartitionCheck, createTroubles } from './consume.ts'
import { createLogs, type Logs, warnOfRetention, watchLogs } from './logs/logs.ts'
import type { LogsDeps } from './logs/state.ts'
import { type ProjectorMetrics, projectorMetrics } from './metrics.ts'
import { createPublisher } from './publish/publisher.ts'
import { hangsMs, openServers, type Servers } from './servers.ts'
import { createRefusals, type Refusals } from './watch/attempts.ts'
import { createProgress } from './watch/progress.ts'
import { Sizes } from './watch/sizes.ts'
import { createWalk } from './watch/walk.ts'
import { type Watch, watch } from './watch/watch.ts'

/** Batches of different partitions processed at the same time: while one waits for Postgres, another is decoded. */
const concurrency = 4

const meanwhile: Meanwhile = {
  Kafka: 'Figures stay as they are, and asOf stands still; the API answers',
  Postgres: 'Figures stay as they are, and Kafka keeps new records; the API answers from Redis',
  Redis: 'Figures are stored in Postgres, from which the API answers',
}

/**
 * Starts a projector, as soon as Postgres and Kafka answer. Throws a sentence if the schema or a topic is missing, or
 * if the topics are not co-partitioned; `crash` is called with fatal errors.
 *
 * Each stage uses the ones before it, and the lifecycle closes them in reverse order:
 *
 * 1. the operations port, so that `/readyz` says what the projector waits for;
 * 2. the connections to Postgres, Kafka and Redis;
 * 3. the components that publish and check; they do nothing by themselves;
 * 4. the watch, which does nothing until partitions are assigned;
 * 5. the consumer, and the comparison of logs, which needs it.
 */
export async function startProjector(settings: Settings, service: ServiceDeps): Promise<void> {
  const { lifecycle, logger, crash } = service
  const names = topicNames(settings.topicPrefix)
  const types = recordTopics(names)
  const topics = [...types.keys()]
  const ops = await openServiceOps('projector', settings.ops, { defaultPort: 9090, meanwhile }, service) // 1
  const metrics = projectorMetrics(ops.registry, topics)

  const servers = await openServers(settings, service, { ...ops, maxBatches: concurrency }) // 2
  void warnOfRetention(servers.kafka, topics, logger)

  let watching: Watch | undefined
  const shared = { ...servers, topics, metrics, logger, consumer: (): Consumer => consumer }
  const components = createComponents({ ...shared, names, onNewEpoch: () => watching?.soon() }) // 3
  const { logs, refusals } = components

  let assigned: TopicPartition[] = []
  watching = watch({ ...shared, ...components, assigned: () => assigned }) // 4
  lifecycle.onRelease('watch', () => watching?.stop(), hangsMs)

  // 5
  const consumer = await consume({
    ...shared,
    ...components,
    groupId: settings.kafkaGroupId,
    concurrency,
    types,
    troubles: createTroubles(logger),
    deadLetters: createDeadLetters(servers.producer, names.deadLetters),
    onAssigned: partitions => {
      assigned = partitions
      watching?.soon()
    },
    crash,
  })
  lifecycle.onRelease('consumer', () => consumer.stop())
  lifecycle.onRelease('logs', watchLogs({ logs, metrics, logger }), hangsMs)

  ops.started(() => ops.outages.missing() ?? notReady(consumer, logs, refusals))
}

type ComponentsDeps = Servers &
  Omit<LogsDeps, 'onMoved'> & { names: TopicNames; metrics: ProjectorMetrics; onNewEpoch: () => void }

/** `onNewEpoch`: called when Postgres has come back in a new epoch, whose watermarks in Redis must be raised again. */
function createComponents(deps: ComponentsDeps) {
  const { metrics, logger } = deps
  const { organizations: organizationsTopic, events: eventsTopic } = deps.names
  const uncomposable = oncePerMinute<unknown>((eventId, _, err) =>
    logger.error(
      { err, eventId },
      `the documents of event ${eventId} cannot be composed (${reasonOf(err)}), so Redis has none of it and Postgres answers: if this process lacks the time zone, replace it by the newest version; if a sum is too large, correct the orders or remove the event (tally events remove)`,
    ),
  )
  const publisher = createPublisher({
    ...deps,
    organizationsTopic,
    onUncomposable: (id, error) => uncomposable.note(id, 1, error),
  })
  const progress = createProgress()
  return {
    publisher,
    progress,
    walk: createWalk({ ...deps, publisher, eventsTopic, organizationsTopic }),
    sizes: new Sizes({ ...deps, organizationsTopic }),
    partitioner: createPartitionCheck(),
    logs: createLogs({ ...deps, onMoved: progress.moved }),
    refusals: createRefusals({ metrics, logger }),
  }
}

/** Why a started projector is not ready, or undefined. */
function notReady(consumer: Consumer, logs: Logs, refusals: Refusals): string | undefined {
  const { joined, begun, lastFetchMs, lastError } = consumer.state()
  if (!joined) return 'not in the consumer group yet'
  const held = logs.notReady() ?? refusals.notReady()
  if (held !== undefined) return held
  if (lastError !== undefined)
    return `trying again after an error of ${partNames[partOf(lastError)]} (${reasonOf(lastError)})`
  // Whoever restarts the next projector now would move partitions that this one does not read yet.
  if (!begun) return 'finding where its partitions begin'
  return lastFetchMs > 30_000 ? 'Kafka has not answered for 30 s' : undefined
}
