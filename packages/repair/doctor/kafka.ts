import { connect } from 'node:net'
import {
  connectKafka,
  groupState,
  heldBack,
  type KafkaConnection,
  partitionsOf,
  type TopicNames,
  type TopicState,
  topicNames,
  topicStates,
} from '@tally/kafka'
import { createLogger, reasonOf } from '@tally/platform'
import { type Checks, type DoctorFinding, fail, ok, type Reach, reach, skip, warn } from './check.ts'

/** What the checks of Kafka need. */
export type KafkaDeps = {
  kafka: KafkaConnection
  brokers: string[]
  names: TopicNames
  groupId: string
  topics: Map<string, TopicState>
}

const connectTimeoutMs = 2_000

/** Asks Kafka for Tally's topics. `onOpen` gets what closes the connection. */
export function reachKafka({ settings, wrongSettings, onOpen }: Reach) {
  const address = settings.kafka.brokers.join(',')
  const mend = 'start it, or correct KAFKA_BROKERS, KAFKA_SSL and KAFKA_SASL_…'
  return reach('kafka', { settings, wrongSettings, address, mend }, async () => {
    const silent = await silentBrokers(settings.kafka.brokers)
    const kafka = connectKafka(settings.kafka, {
      clientId: 'tally-doctor',
      logger: createLogger('cli', 'silent'),
    })
    onOpen(() => kafka.close())
    const names = topicNames(settings.topicPrefix)
    const topics = await topicStates(kafka, Object.values(names))
    return {
      finding: judgeBrokers(settings.kafka.brokers.length, silent),
      deps: { kafka, brokers: settings.kafka.brokers, names, topics, groupId: settings.kafkaGroupId },
    }
  })
}

function judgeBrokers(count: number, silent: string[]): DoctorFinding {
  if (silent.length === 0) return ok(`${count} of ${count} brokers of KAFKA_BROKERS answer`)
  return warn(
    `${silent.join(',')} of KAFKA_BROKERS does not answer, another broker does`,
    'start it, or remove it from KAFKA_BROKERS',
  )
}

/** Those that accept no connection. Throws the first one's error if none does: kafkajs would try for long. */
async function silentBrokers(brokers: string[]): Promise<string[]> {
  const tried = await Promise.allSettled(brokers.map(accepts))
  const failed = tried.flatMap((one, at) => (one.status === 'rejected' ? [[brokers[at], one.reason]] : []))
  if (failed.length === brokers.length) throw new Error(reasonOf(failed[0]?.[1]))
  return failed.map(([broker]) => String(broker))
}

/** Resolves once `host:port` accepts a connection. */
function accepts(broker: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { hostname, port } = new URL(`kafka://${broker}`)
  const socket = connect(Number(port), hostname.replace(/^\[(.+)\]$/, '$1'))
  socket.setTimeout(connectTimeoutMs, () =>
    reject(new Error(`no connection in ${connectTimeoutMs / 1_000} s`)),
  )
  socket.on('error', reject).on('connect', () => resolve())
  return promise.finally(() => socket.destroy())
}

/** Whether projectors are in their consumer group. */
async function checkGroup({ kafka, groupId }: KafkaDeps): Promise<DoctorFinding> {
  const { state, members } = await groupState(kafka, groupId)
  if (state === undefined) return skip('not checked: see kafka rights')
  const projectors = `${members.length} ${members.length === 1 ? 'projector' : 'projectors'}`
  if (members.length === 0)
    return fail(
      `no projector is in ${groupId} (${state})`,
      'start tally projector; if one runs, compare its KAFKA_GROUP_ID, and see its /readyz',
    )
  if (state !== 'Stable')
    return warn(
      `${groupId} has ${projectors} and is rebalancing (${state})`,
      'run tally doctor again in 10 s; if this stays, look for projectors that restart again and again',
    )
  return ok(`${projectors} in ${groupId}`)
}

/** As asOf.ts: figures this old are a failure. */
const failsAfterMs = 30_000

/** Whether another producer's transaction holds back a topic that is read. */
async function checkTransactions({ kafka, names, topics }: KafkaDeps): Promise<DoctorFinding> {
  const { deadLetters: _, ...read } = names
  const partitions = partitionsOf(
    Object.values(read).map(topic => [topic, topics.get(topic)?.partitions ?? 0]),
  )
  if (partitions.length === 0) return skip('not checked: see topics')
  const [first, ...others] = await heldBack(kafka, partitions)
  if (first === undefined) return ok('none holds back a partition')
  const more = others.length === 0 ? '' : `; so do ${others.length} more`
  const judge = first.quietMs < failsAfterMs ? warn : fail
  return judge(
    `${first.found}${more}`,
    `end that producer; if it is gone, give up its transaction: ${first.command} (docs/runbook.md, TallyShardStandsStill)`,
  )
}

export const kafkaChecks: Checks<KafkaDeps> = {
  group: checkGroup,
  transactions: checkTransactions,
}
