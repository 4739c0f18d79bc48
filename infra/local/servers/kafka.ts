import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, tryRun } from '../command.ts'
import { ensureJars, jarsFolder, kafkaVersion } from '../install/kafkaJars.ts'
import { containerServer, hasDocker, type Image } from './container.ts'
import { kafkaAnswers } from './kafkaAnswers.ts'
import { classesOption, ensureClasses } from './kafkaClasses.ts'
import { cannotBeHad, type PartSetup } from './part.ts'
import { freePort } from './ports.ts'
import { type Server, serverOf } from './server.ts'

/** Makes Kafka write warnings, start and stop to its output. */
export const log4jOption = `-Dlog4j2.configurationFile=${join(import.meta.dirname, 'log4j2.properties')}`

const clusterId = 'dGFsbHktbG9jYWwta2Fma2'

type Settings = Record<string, string>

/**
 * A Kafka of one node (KRaft) that listens on 127.0.0.1 only and creates no topic automatically. `change` returns the
 * settings of a broker that a test needs otherwise.
 */
export async function kafkaServer(
  setup: PartSetup,
  change: (settings: Settings) => Settings = settings => settings,
): Promise<Server> {
  const { folder, port, logFile } = setup
  const url = `127.0.0.1:${port}`
  const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin/java') : 'java'
  if (!(await canRun(java))) {
    if (!(await hasDocker()))
      throw cannotBeHad('kafka', 'install Java 17 or later and Maven', 'KAFKA_BROKERS')
    const image = kafkaImage(url)
    return containerServer({ ...image, env: { ...image.env, KAFKA_LOG_DIRS: image.innerFolder } }, setup)
  }
  const controllerPort = await freePort()
  // The quick compiler alone saves 0.4 s of a start and 3 s of the first half minute, and costs throughput.
  const quickStart = setup.brief ? ['-XX:TieredStopAtLevel=1', classesOption] : []
  const jvm = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', ...quickStart]
  const classes = ['-cp', `${jarsFolder}/*`]

  async function prepare() {
    await ensureJars(setup)
    mkdirSync(folder, { recursive: true })
    // Records hold what Postgres never gets, such as customers' names.
    chmodSync(folder, 0o700)
    const properties = join(folder, 'server.properties')
    writeFileSync(properties, propertiesOf(change(serverSettings(folder, port, controllerPort))))
    await format(properties)
    const args = [...jvm, log4jOption, ...classes, 'kafka.Kafka', properties]
    if (setup.brief) await ensureClasses(java, args, { answers, signal: setup.signal })
    return { command: java, args, stopSignal: 'SIGTERM' as const }
  }

  async function format(properties: string): Promise<void> {
    const formatted = join(folder, 'formatted')
    if (existsSync(formatted)) return
    rmSync(join(folder, 'data'), { recursive: true, force: true })
    const args = ['format', '-t', clusterId, '-c', properties]
    await run(java, [...jvm, log4jOption, ...classes, 'kafka.tools.StorageTool', ...args], {
      signal: setup.signal,
    })
    writeFileSync(formatted, '')
  }

  const answers = () => kafkaAnswers(url)
  return serverOf(
    { name: 'kafka', url, port, pidFile: join(folder, 'pid'), logFile, prepare, answers },
    setup,
  )
}

async function canRun(java: string): Promise<boolean> {
  const printed = await run(java, ['-version']).catch(() => undefined)
  const version = Number(/version "(\d+)/.exec(printed?.output ?? '')?.[1] ?? 0)
  return version >= 17 && (existsSync(jarsFolder) || (await tryRun('mvn', ['-version'])) !== undefined)
}

function serverSettings(folder: string, port: number, controllerPort: number): Settings {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': join(folder, 'data'),
    ...singleNode,
    // After a kill -9 the controller still waits for the old process; by default 9 s.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
  }
}

const propertiesOf = (settings: Settings): string =>
  Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')

/** What one node alone needs, and what keeps topics from appearing by themselves. */
const singleNode = {
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '4',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'auto.create.topics.enable': 'false',
}

/** The official image of the same version, as a node that clients reach at `brokers` (host:port). */
export function kafkaImage(brokers: string): Image {
  const env: Record<string, string> = {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${brokers}`,
  }
  for (const [key, value] of Object.entries(singleNode)) {
    env[`KAFKA_${key.toUpperCase().replaceAll('.', '_')}`] = value
  }
  return {
    name: 'kafka',
    url: brokers,
    image: `apache/kafka:${kafkaVersion}`,
    innerPort: 9092,
    innerFolder: '/var/lib/kafka/data',
    env,
    args: [],
    stopSignal: 'SIGTERM',
    answers: () => kafkaAnswers(brokers),
  }
}
