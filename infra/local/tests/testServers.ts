import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestServers } from '@tally/testkit/servers/provided'
import type { TestProject } from 'vitest/node'
import { localFolder } from '../folder.ts'
import { forgetAll, startServers } from '../servers/index.ts'
import { startTestCluster } from './testCluster.ts'
import { startContainers } from './testContainers.ts'

const runsFolder = localFolder('test')

/**
 * Starts real servers once for a run of the tests and returns what stops them. The environment's KAFKA_BROKERS,
 * DATABASE_URL and REDIS_URL are used as they are; the rest comes from containers when TALLY_TEST_SERVERS is
 * `containers`, else from this folder. TALLY_TEST_REDIS=cluster gives a Redis Cluster of three nodes in place of one
 * Redis. Data is new in every run and deleted after it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL } = process.env
  const isCluster = !REDIS_URL && wantsCluster(process.env.TALLY_TEST_REDIS)
  const wanted = { kafka: !KAFKA_BROKERS, postgres: !DATABASE_URL, redis: !REDIS_URL && !isCluster }
  const started = isCluster ? await startWithCluster(wanted) : await start(wanted)
  project.provide('servers', {
    kafkaBrokers: KAFKA_BROKERS || started.kafkaBrokers,
    databaseUrl: DATABASE_URL || started.databaseUrl,
    redisUrl: REDIS_URL || started.redisUrl,
  })
  return started.stop
}

function wantsCluster(kind: string | undefined): boolean {
  if (kind === undefined || kind === '' || kind === 'one' || kind === 'cluster') return kind === 'cluster'
  throw new Error(`TALLY_TEST_REDIS is ${JSON.stringify(kind)}; it takes "one" or "cluster"`)
}

async function startWithCluster(wanted: Wanted): Promise<TestServers & { stop: () => Promise<void> }> {
  const servers = await start(wanted)
  try {
    const cluster = await startTestCluster(join(runsFolder, String(process.pid)))
    process.stderr.write(`redis ready at ${cluster.redisUrl} (a cluster)\n`)
    // The cluster first: its data is in the folder that the servers' stop deletes.
    return { ...servers, redisUrl: cluster.redisUrl, stop: () => cluster.stop().then(servers.stop) }
  } catch (error) {
    await servers.stop()
    throw error
  }
}

type Wanted = Record<'kafka' | 'postgres' | 'redis', boolean>

async function start(wanted: Wanted): Promise<TestServers & { stop: () => Promise<void> }> {
  const log = (line: string) => void process.stderr.write(`${line}\n`)
  const kind = process.env.TALLY_TEST_SERVERS
  if (kind === 'containers') return startContainers(wanted, log)
  if (kind !== undefined && kind !== '' && kind !== 'local') {
    throw new Error(`TALLY_TEST_SERVERS is ${JSON.stringify(kind)}; it takes "local" or "containers"`)
  }
  await forgetDeadRuns()
  const dataFolder = join(runsFolder, String(process.pid))
  const servers = await startServers({ ...wanted, dataFolder, log, durable: false })
  return { ...servers, stop: servers.forget }
}

/** Deletes the data of runs that ended before they could. */
async function forgetDeadRuns(): Promise<void> {
  mkdirSync(runsFolder, { recursive: true })
  for (const pid of readdirSync(runsFolder)) {
    if (!isAlive(Number(pid))) await forgetAll(join(runsFolder, pid))
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
