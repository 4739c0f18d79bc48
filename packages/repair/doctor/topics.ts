import {
  deadLetterRetentionBytes,
  keepsAll,
  largestBatch,
  readRetention,
  readSmallTopics,
  recordTopics,
  type SmallTopic,
} from '@tally/kafka'
import { type DoctorFinding, fail, ok, skip, warn } from './check.ts'
import type { KafkaDeps } from './kafka.ts'
import { mayReadSettings } from './rights.ts'

/** Whether a topic exists, as far as this client may know. */
const isThere = ({ topics }: KafkaDeps, topic: string): boolean => (topics.get(topic)?.partitions ?? 0) > 0
const isForbidden = ({ topics }: KafkaDeps, topic: string): boolean =>
  topics.get(topic)?.rights.has('describe') === false

/** The topics whose records count, as far as they exist: all but the dead letters. */
function existingTopics(deps: KafkaDeps): string[] {
  return [...recordTopics(deps.names).keys()].filter(topic => isThere(deps, topic))
}

/** Whether all topics exist. */
export function checkTopicsExist(deps: KafkaDeps): DoctorFinding {
  const all = Object.values(deps.names)
  const missing = all.filter(topic => !isThere(deps, topic) && !isForbidden(deps, topic))
  if (missing.length > 0) return fail(`missing: ${missing.join(', ')}`, 'run tally topics create')
  return ok(all.join(', '))
}

/** Whether events, orders and refunds are co-partitioned (docs/records.md, Topics). */
export function checkPartitions(deps: KafkaDeps): DoctorFinding {
  const { events, orders, refunds } = deps.names
  const counts = [events, orders, refunds]
    .filter(topic => isThere(deps, topic))
    .map(topic => ({ topic, count: deps.topics.get(topic)?.partitions ?? 0 }))
  const most = Math.max(0, ...counts.map(({ count }) => count))
  if (most === 0) return skip('not checked: see topics')
  if (counts.every(({ count }) => count === most)) return ok(`${most} shards`)
  return fail(
    `they differ: ${counts.map(({ topic, count }) => `${topic} has ${count}`).join(', ')}`,
    `add partitions with kafka-topics.sh --alter until each has ${most}`,
  )
}

/** Whether Kafka keeps records for ever. */
export const checkRetention = (deps: KafkaDeps): Promise<DoctorFinding> => judgeSettings(deps, /^retention/)

/** Whether Kafka keeps all records of a key. */
export const checkCleanupPolicy = (deps: KafkaDeps): Promise<DoctorFinding> => judgeSettings(deps, /^cleanup/)

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
export async function checkDeadLetterRetention(deps: KafkaDeps): Promise<DoctorFinding> {
  const { brokers, kafka, names } = deps
  if (!mayReadSettings(deps)) return skip('not checked: see kafka rights')
  if (!isThere(deps, names.deadLetters)) return skip('not checked: see topics')
  const bounds = (await readRetention(kafka, [names.deadLetters])).get(names.deadLetters) ?? []
  if (bounds.length > 0) return ok(bounds.join(', '))
  return warn(
    `${names.deadLetters} keeps dead letters for ever: bad records may fill Kafka's disk`,
    `run ${alter(brokers, names.deadLetters, `retention.bytes=${deadLetterRetentionBytes}`)}`,
  )
}

/**
 * Whether the topics take the largest records (docs/install.md, Topics). Topics that were created by Kafka's
 * defaults, or by Tally before 0.3, take 1 MiB.
 */
export async function checkRecordSize(deps: KafkaDeps): Promise<DoctorFinding> {
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
