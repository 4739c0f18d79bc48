import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureJars } from '#infra/install/kafkaJars.ts'
import { kafkaServer } from '#infra/servers/kafka.ts'
import { hasClasses } from '#infra/servers/kafkaClasses.ts'
import { freePort } from '#infra/servers/ports.ts'
import type { Server } from '#infra/servers/server.ts'
import type { PartOptions } from './part.ts'

/** Three Kafka nodes, each a broker and a controller; node n is `nodes[n - 1]`. */
export type Brokers = { urls: string; nodes: Server[]; stop: () => Promise<void> }

/** After this time without a heartbeat, the controller moves a broker's partitions to others. Kafka's default: 9 s. */
export const brokerSessionMs = 3_000

/** Starts the nodes. Every topic has three replicas, two of which must acknowledge a record. */
export async function startBrokers(options: PartOptions = {}): Promise<Brokers> {
  const { log = () => {} } = options
  await ensureJars({ log })
  const folder = mkdtempSync(join(tmpdir(), 'tally-brokers-'))
  const ids = [1, 2, 3]
  const controllers = await Promise.all(ids.map(freePort))
  const voters = controllers.map((port, i) => `${ids[i]}@127.0.0.1:${port}`).join(',')
  const nodes = await Promise.all(
    ids.map((id, i) => nodeOf(join(folder, String(id)), { id, controller: controllers[i], voters }, options)),
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

type Node = { id: number; controller: number | undefined; voters: string }

async function nodeOf(
  folder: string,
  { id, controller, voters }: Node,
  { logFolder = folder, log = () => {}, onDeath = console.error }: PartOptions,
): Promise<Server> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const logFile = join(logFolder, `kafka-${id}.log`)
  // Of three that start at once, none can write the file of classes.
  const setup = { folder, logFile, port, durable: false, brief: hasClasses(), log, onDeath }
  return kafkaServer(setup, settings => ({
    ...settings,
    'node.id': String(id),
    'controller.quorum.voters': voters,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    'default.replication.factor': '3',
    'min.insync.replicas': '2',
    'offsets.topic.replication.factor': '3',
    'transaction.state.log.replication.factor': '3',
    'transaction.state.log.min.isr': '2',
    'share.coordinator.state.topic.replication.factor': '3',
    'broker.session.timeout.ms': String(brokerSessionMs),
  }))
}
