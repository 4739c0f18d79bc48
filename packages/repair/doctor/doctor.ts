import { timeZoneDataVersion } from '@tally/contract'
import { type TopicNames, topicNames } from '@tally/kafka'
import { type Postgres, timeout } from '@tally/platform'
import { checkAsOf, checkStalled } from './asOf.ts'
import { certificateChecks } from './certificates.ts'
import { type Checked, type Checks, ok, runChecks, skip } from './check.ts'
import { checkClocks } from './clocks.ts'
import { type KafkaDeps, kafkaChecks, reachKafka } from './kafka.ts'
import { type PostgresDeps, postgresChecks, reachPostgres } from './postgres.ts'
import { type RedisDeps, reachRedis, redisChecks } from './redis.ts'
import { examineSettings } from './settings.ts'
import { topicChecks } from './topics.ts'

const closeTimeoutMs = 1_000

type All = {
  /** Undefined if the setting is invalid. */
  names: TopicNames | undefined
  kafka: KafkaDeps | undefined
  postgres: PostgresDeps | undefined
  redis: RedisDeps | undefined
}

const sharedChecks: Checks<All> = {
  'time zone data': () => ok(timeZoneDataVersion()),
  clocks: ({ postgres, redis }) => checkClocks(postgres?.db, redis?.redis),
  stalled: all => ofTopics(all, checkStalled),
  asOf: all =>
    ofTopics(all, (db, names) => checkAsOf(db, names, all.kafka?.topics.get(names.events)?.partitions ?? 0)),
}

/** What Postgres knows about the topics, if both are known. */
function ofTopics<Found>({ names, postgres }: All, check: (db: Postgres, names: TopicNames) => Found) {
  if (names === undefined) return skip('not checked: see settings')
  return postgres === undefined ? skip('not checked: see postgres') : check(postgres.db, names)
}

/**
 * Checks an installation (docs/reference.md, Doctor): its settings, Kafka, Postgres and Redis, their clocks and
 * certificates, and how fresh the figures are. All parts are checked at once; one that is down fails its own line, and
 * those that need it are skipped. Changes nothing, apart from one key in Redis that lives for 1 s. Never throws for
 * what it finds.
 */
export async function examine(environment: Record<string, string | undefined>): Promise<Checked[]> {
  const { finding, settings, wrong } = examineSettings(environment)
  const opened: (() => Promise<void>)[] = []
  const onOpen = (close: () => Promise<void>): void => void opened.push(close)
  try {
    const [kafka, postgres, redis] = await Promise.all([
      reachKafka({ settings, wrongSettings: wrong.kafka, onOpen }),
      reachPostgres({ settings, wrongSettings: wrong.postgres, onOpen }),
      reachRedis({ settings, wrongSettings: wrong.redis, onOpen }),
    ])
    const names = wrong.topics ? undefined : topicNames(settings.topicPrefix)
    const all = { names, kafka: kafka.deps, postgres: postgres.deps, redis: redis.deps }
    const lines = await Promise.all([
      runChecks({ ...topicChecks, ...kafkaChecks }, kafka.deps, 'not checked: see kafka'),
      runChecks(postgresChecks, postgres.deps, 'not checked: see postgres'),
      runChecks(redisChecks, redis.deps, 'not checked: see redis'),
      runChecks(sharedChecks, all, ''),
      runChecks(certificateChecks, { settings, wrong }, ''),
    ])
    const [ofKafka, ofPostgres, ofRedis, ...others] = lines
    return [
      { check: 'settings', ...finding },
      ...[kafka.line, ...ofKafka],
      ...[postgres.line, ...ofPostgres],
      ...[redis.line, ...ofRedis],
      ...others.flat(),
    ]
  } finally {
    // A part that hangs must not delay the answer.
    await Promise.all(opened.map(close => timeout(closeTimeoutMs, close()).catch(() => undefined)))
  }
}
