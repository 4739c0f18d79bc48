import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createMigrated } from '@tally/testkit/servers/migrated'
import type { ServerAddresses } from '@tally/testkit/servers/provided'
import type { TestProject } from 'vitest/node'
import { startCluster } from '../../../test/cluster/index.ts'
import { startRedisCluster } from '../../../test/cluster/redisCluster.ts'
import { startRedisWithSentinel } from '../../../test/cluster/redisSentinel.ts'
import { localFolder } from '../folder.ts'
import { forgetAll, startServers } from '../servers/index.ts'
import { startContainers } from './testContainers.ts'

const runsFolder = localFolder('test')

type Started = ServerAddresses & { stop: () => Promise<void> }
type Wanted = Record<'kafka' | 'postgres' | 'redis', boolean>

const log = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * Starts real servers once for a run of the tests and returns what stops them. With TALLY_TEST_CLUSTER=1 they are those
 * of several machines (test/cluster). Otherwise the environment's KAFKA_BROKERS, DATABASE_URL and REDIS_URL are
 * used as they are; the rest comes from containers when TALLY_TEST_SERVERS is `containers`, else from this folder.
 * TALLY_TEST_REDIS names the kind of Redis. Data is new in every run and deleted after it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { stop, ...servers } = await startWanted()
  try {
    const { name, drop } = await createMigrated(servers.databaseUrl)
    project.provide('servers', { ...servers, migratedDatabase: name })
    return () => drop().finally(stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function startWanted(): Promise<Started> {
  const redis = oneOf('TALLY_TEST_REDIS', ['one', 'cluster', 'sentinel'])
  if (oneOf('TALLY_TEST_CLUSTER', ['0', '1']) === '1')
    return startSeveral(redis === 'one' ? 'cluster' : redis)
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL } = process.env
  const isOne = redis === 'one'
  const wanted = { kafka: !KAFKA_BROKERS, postgres: !DATABASE_URL, redis: !REDIS_URL && isOne }
  const started = REDIS_URL || isOne ? await start(wanted) : await startWithRedis(redis, wanted)
  return {
    kafkaBrokers: KAFKA_BROKERS || started.kafkaBrokers,
    databaseUrl: DATABASE_URL || started.databaseUrl,
    redisUrl: REDIS_URL || started.redisUrl,
    stop: started.stop,
  }
}

/** The value of a variable that takes one of these words, by default the first. */
function oneOf<Word extends string>(variable: string, words: [Word, ...Word[]]): Word {
  const value = process.env[variable] || words[0]
  const word = words.find(word => word === value)
  if (word !== undefined) return word
  throw new Error(
    `${variable} is ${JSON.stringify(value)}; it takes ${words.map(word => `"${word}"`).join(' or ')}`,
  )
}

async function startSeveral(redis: 'cluster' | 'sentinel'): Promise<Started> {
  const cluster = await startCluster({ redis, log })
  return {
    kafkaBrokers: cluster.brokers.urls,
    databaseUrl: cluster.pooler.url,
    redisUrl: cluster.redis.url,
    stop: cluster.stop,
  }
}

async function startWithRedis(kind: 'cluster' | 'sentinel', wanted: Wanted): Promise<Started> {
  const servers = await start(wanted)
  try {
    const redis = await (kind === 'cluster'
      ? startRedisCluster({ hasReplicas: false })
      : startRedisWithSentinel())
    log(`redis ready at ${redis.url}`)
    return { ...servers, redisUrl: redis.url, stop: () => redis.stop().then(servers.stop) }
  } catch (error) {
    await servers.stop()
    throw error
  }
}

async function start(wanted: Wanted): Promise<Started> {
  if (oneOf('TALLY_TEST_SERVERS', ['local', 'containers']) === 'containers')
    return startContainers(wanted, log)
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
