import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '#infra/command.ts'
import { haveJars, jarsFolder } from '#infra/install/kafkaJars.ts'
import { log4jOption } from '#infra/servers/kafka.ts'
import { kafkaAnswers } from '#infra/servers/kafkaAnswers.ts'
import { classesOption } from '#infra/servers/kafkaClasses.ts'
import { freePort } from '#infra/servers/ports.ts'
import { type Server, serverOf } from '#infra/servers/server.ts'
import type { PartOptions } from './part.ts'

/** Three Kafka nodes, each a broker and a controller; node n is `nodes[n - 1]`. */
export type Brokers = { urls: string; nodes: Server[]; stop: () => Promise<void> }

/** After this time without a heartbeat, the controller moves a broker's partitions to others. Kafka's default: 9 s. */
export const brokerSessionMs = 3_000

const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin/java') : 'java'
const jvm = ['-Xms96m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', classesOption]
const runJava = [...jvm, log4jOption, '-cp', `${jarsFolder}/*`]

/** Starts the nodes. Every topic has three replicas, two of which must acknowledge a record. */
export async function startBrokers(options: PartOptions = {}): Promise<Brokers> {
  const { log = () => {} } = options
  await haveJars({ log })
  const folder = mkdtempSync(join(tmpdir(), 'tally-brokers-'))
  const ids = [1, 2, 3]
  const ports = await Promise.all(ids.map(async () => [await freePort(), await freePort()] as const))
  const voters = ports.map(([, controller], i) => `${i + 1}@127.0.0.1:${controller}`).join(',')
  const nodes = await Promise.all(
    ids.map((id, i) => {
      const [port = 0, controllerPort = 0] = ports[i] ?? []
      return nodeOf(join(folder, String(id)), { id, port, controllerPort, voters }, options)
    }),
  )
  const stop = async () => {
    for (const node of nodes) await node.kill('SIGCONT')
    await Promise.all(nodes.map(node => node.kill('SIGKILL')))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all(nodes.map(node => node.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return { urls: nodes.map(({ url }) => url).join(','), nodes, stop }
}

type Node = { id: number; port: number; controllerPort: number; voters: string }

async function nodeOf(
  folder: string,
  node: Node,
  { logFolder = folder, onDeath = console.error }: PartOptions,
): Promise<Server> {
  mkdirSync(folder, { recursive: true })
  const properties = join(folder, 'server.properties')
  writeFileSync(properties, propertiesOf(folder, node))
  const cluster = ['-t', 'dGFsbHktdGhyZWUtbm9kZQ', '-c', properties]
  await run(java, [...runJava, 'kafka.tools.StorageTool', 'format', ...cluster])
  const { port } = node
  const url = `127.0.0.1:${port}`
  const kind = {
    name: 'kafka',
    url,
    port,
    pidFile: join(folder, 'pid'),
    logFile: join(logFolder, `kafka-${node.id}.log`),
    prepare: async () => ({
      command: java,
      args: [...runJava, 'kafka.Kafka', properties],
      stopSignal: 'SIGTERM' as const,
    }),
    answers: () => kafkaAnswers(url),
  } as const
  return serverOf(kind, { onDeath })
}

function propertiesOf(folder: string, { id, port, controllerPort, voters }: Node): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': false,
    'default.replication.factor': 3,
    'min.insync.replicas': 2,
    'offsets.topic.replication.factor': 3,
    'offsets.topic.num.partitions': 3,
    'transaction.state.log.replication.factor': 3,
    'transaction.state.log.num.partitions': 3,
    'share.coordinator.state.topic.replication.factor': 3,
    'group.initial.rebalance.delay.ms': 0,
    'broker.session.timeout.ms': brokerSessionMs,
    'broker.heartbeat.interval.ms': 500,
  }
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}
