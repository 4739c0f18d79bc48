import {
  deadLetterRetentionBytes,
  endOffsets,
  groupState,
  type KafkaConnection,
  keepsAll,
  largestBatch,
  partitionOf,
  type Right,
  readBack,
  readRetention,
  readSmallTopics,
  recordTopics,
  type SmallTopic,
} from '@tally/kafka'
import { type Checks, type DoctorFinding, fail, ok, skip, warn } from './check.ts'
import type { KafkaDeps } from './kafka.ts'

/** Whether a topic exists, as far as this client may know. */
const isThere = ({ topics }: KafkaDeps, topic: string): boolean => (topics.get(topic)?.partitions ?? 0) > 0
const isForbidden = ({ topics }: KafkaDeps, topic: string): boolean =>
  topics.get(topic)?.rights.has('describe') === false

/** The topics whose records count, as far as they exist: all but the dead letters. */
function existingTopics(deps: KafkaDeps): string[] {
  return [...recordTopics(deps.names).keys()].filter(topic => isThere(deps, topic))
}

/** Whether all topics exist. */
function checkTopicsExist(deps: KafkaDeps): DoctorFinding {
  const all = Object.values(deps.names)
  const missing = all.filter(topic => !isThere(deps, topic) && !isForbidden(deps, topic))
  if (missing.length > 0) return fail(`missing: ${missing.join(', ')}`, 'run tally topics create')
  return ok(all.join(', '))
}

/** Whether events, orders and refunds are co-partitioned, and dead letters have one (docs/records.md, Topics). */
function checkPartitions(deps: KafkaDeps): DoctorFinding {
  const { events, orders, refunds, deadLetters } = deps.names
  const counts = [events, orders, refunds]
    .filter(topic => isThere(deps, topic))
    .map(topic => ({ topic, count: deps.topics.get(topic)?.partitions ?? 0 }))
  const most = Math.max(0, ...counts.map(({ count }) => count))
  if (most === 0) return skip('not checked: see topics')
  if (!counts.every(({ count }) => count === most))
    return fail(
      `they differ: ${counts.map(({ topic, count }) => `${topic} has ${count}`).join(', ')}`,
      `add partitions with kafka-topics.sh --alter until each has ${most}`,
    )
  if ((deps.topics.get(deadLetters)?.partitions ?? 0) > 1)
    return fail(
      `${deadLetters} has several, of which Tally shows the first`,
      'replay what they hold (tally dead-letters replay --all), then create it again with one',
    )
  return ok(`${most} shards`)
}

/** Whether Kafka keeps records for ever, and all records of a key: by those settings whose names `which` matches. */
async function judgeSettings(deps: KafkaDeps, which: RegExp): Promise<DoctorFinding> {
  if (!mayReadSettings(deps)) return skip('not checked: see kafka rights')
  const topics = existingTopics(deps)
  if (topics.length === 0) return skip('not checked: see topics')
  const losing = [...(await readRetention(deps.kafka, topics))]
    .map(([topic, settings]) => ({ topic, settings: settings.filter(setting => which.test(setting)) }))
    .filter(({ settings }) => settings.length > 0)
  if (losing.length === 0) return ok('keeps every record')
  return fail(
    `records are lost: ${losing.map(({ topic, settings }) => `${topic} has ${settings.join(', ')}`).join('; ')}`,
    `set ${keepsAll} with kafka-configs.sh --alter`,
  )
}

/** Whether the dead letters have an end: bad records of one producer would fill the disk of all topics. */
async function checkDeadLetterRetention(deps: KafkaDeps): Promise<DoctorFinding> {
  const { brokers, kafka, names } = deps
  if (!mayReadSettings(deps)) return skip('not checked: see kafka rights')
  if (!isThere(deps, names.deadLetters)) return skip('not checked: see topics')
  const bounds = (await readRetention(kafka, [names.deadLetters])).get(names.deadLetters) ?? []
  if (bounds.length === 0)
    return warn(
      `${names.deadLetters} keeps dead letters for ever: bad records may fill Kafka's disk`,
      `run ${alter(brokers, names.deadLetters, `retention.bytes=${deadLetterRetentionBytes}`)}`,
    )
  const logs = (await endOffsets(kafka, [names.deadLetters])).get(names.deadLetters)?.values() ?? []
  const count = [...logs].reduce((sum, { start, end }) => sum + end - start, 0)
  return ok(`${bounds.join(', ')}; ${count} kept, replayed ones too (tally dead-letters list)`)
}

/**
 * Whether the topics take the largest records (docs/install.md, Topics). Topics that were created by Kafka's
 * defaults, or by Tally before 0.3, take 1 MiB.
 */
async function checkRecordSize(deps: KafkaDeps): Promise<DoctorFinding> {
  if (!mayReadSettings(deps)) return skip('not checked: see kafka rights')
  const existing = Object.values(deps.names).filter(topic => isThere(deps, topic))
  if (existing.length === 0) return skip('not checked: see topics')
  const small = await readSmallTopics(deps.kafka, deps.names, existing)
  if (small.length === 0) return ok('the topics take the largest records')
  return warn(
    `large records are refused: ${small.map(({ topic, bytes }) => `${topic} takes ${bytes} bytes`).join(', ')}`,
    `run ${small.map(of => enlarge(deps.brokers, of)).join(' && ')}`,
  )
}

const enlarge = (brokers: string[], { topic, wanted }: SmallTopic): string =>
  alter(brokers, topic, `${largestBatch}=${wanted}`)

const alter = (brokers: string[], topic: string, setting: string): string =>
  `kafka-configs.sh --bootstrap-server ${brokers.join(',')} --alter --entity-type topics --entity-name ${topic} ` +
  `--add-config ${setting}`

/** What Tally does with each topic, and with the group of the projectors (docs/install.md, Rights in Kafka). */
function neededRights({ names }: KafkaDeps): [topic: string, rights: Right[]][] {
  const read = [...recordTopics(names).keys()].map((topic): [string, Right[]] => [
    topic,
    ['describe', 'read'],
  ])
  return [...read, [names.deadLetters, ['describe', 'read', 'write']]]
}

/** Whether Kafka's ACLs allow what Tally needs. A missing right to read the topics' settings is only a warning. */
async function checkRights(deps: KafkaDeps): Promise<DoctorFinding> {
  const { kafka, topics, groupId } = deps
  const group = await groupState(kafka, groupId)
  const missingRights = (rights: ReadonlySet<Right> | undefined, needed: Right[]): Right[] =>
    needed.filter(right => rights?.has(right) === false)
  const missing = [
    ...neededRights(deps).map(([topic, needed]) => ({
      on: `topic ${topic}`,
      missing: missingRights(topics.get(topic)?.rights, needed),
    })),
    { on: `group ${groupId}`, missing: missingRights(group.rights, ['describe', 'read']) },
  ].filter(({ missing }) => missing.length > 0)
  if (missing.length > 0)
    return fail(
      missing.map(({ on, missing }) => `${on}: no right to ${missing.join(', ')}`).join('; '),
      'allow it with kafka-acls.sh --add (docs/install.md, Rights in Kafka)',
    )
  if (!mayReadSettings(deps))
    return warn(
      'no right to read the settings of the topics, so that nothing warns of retention and record size',
      'allow describe-configs with kafka-acls.sh --add (docs/install.md, Rights in Kafka)',
    )
  return ok('Kafka allows all that Tally needs')
}

/** Whether the settings of all topics may be read. */
const mayReadSettings = ({ topics }: KafkaDeps): boolean =>
  [...topics.values()].every(({ rights }) => rights.has('describe-configs'))

/** Newer than this; older records may be from a time with fewer partitions. */
const recentMs = 24 * 60 * 60_000
/** Records that are looked at in each partition. */
const sampled = 100

/** Whether the newest records lie where murmur2 puts their keys (docs/records.md, Topics). */
async function checkPartitioner({ kafka, names, topics }: KafkaDeps): Promise<DoctorFinding> {
  const shardTopics = [names.events, names.orders, names.refunds].filter(topic => {
    const state = topics.get(topic)
    return state !== undefined && state.partitions > 0 && state.rights.has('read')
  })
  if (shardTopics.length === 0) return skip('not checked: see topics')
  const logs = await endOffsets(kafka, shardTopics)
  const places = shardTopics.flatMap(topic =>
    [...(logs.get(topic) ?? [])].map(([partition, { start, end }]) => ({
      topic,
      partition,
      range: { start: Math.max(start, end - sampled), end },
    })),
  )
  const found = await Promise.all(
    places.map(async ({ topic, partition, range }) => {
      const keys = await newestKeys(kafka, { topic, partition }, range)
      const count = topics.get(topic)?.partitions ?? 0
      return {
        topic,
        keys: keys.length,
        misplaced: keys.filter(key => partitionOf(key, count) !== partition).length,
      }
    }),
  )
  return judge(found)
}

async function newestKeys(
  kafka: KafkaConnection,
  of: { topic: string; partition: number },
  range: { start: number; end: number },
): Promise<Buffer[]> {
  const windows = readBack(kafka, of, range, ({ key, timestampMs }) => ({ key, timestampMs }))
  const { value } = await windows.next()
  const since = Date.now() - recentMs
  return (value?.kept ?? []).flatMap(({ key, timestampMs }) =>
    key !== null && timestampMs >= since ? [key] : [],
  )
}

function judge(found: { topic: string; keys: number; misplaced: number }[]): DoctorFinding {
  const keys = found.reduce((sum, one) => sum + one.keys, 0)
  const misplaced = found.reduce((sum, one) => sum + one.misplaced, 0)
  if (misplaced === 0) return ok(`murmur2, by ${keys} records of the last day`)
  const topics = [...new Set(found.filter(one => one.misplaced > 0).map(({ topic }) => topic))]
  return fail(
    `${misplaced} of ${keys} records of the last day lie in another partition than murmur2 chooses (${topics.join(', ')})`,
    "let the producers use Kafka's standard partitioner; right after partitions were added, wait a day",
  )
}

export const topicChecks: Checks<KafkaDeps> = {
  'kafka rights': checkRights,
  topics: checkTopicsExist,
  partitions: checkPartitions,
  retention: deps => judgeSettings(deps, /^retention/),
  'cleanup policy': deps => judgeSettings(deps, /^cleanup/),
  'dead letters': checkDeadLetterRetention,
  'record size': checkRecordSize,
  partitioner: checkPartitioner,
}
