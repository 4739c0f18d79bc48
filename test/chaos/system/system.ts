import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTopics, type KafkaConnection, partitionOf } from '@tally/kafka'
import { type Postgres, whenReady } from '@tally/platform'
import { migrate, openPostgres } from '@tally/schema'
import { environmentOf } from '@tally/testkit/processes/environment'
import { tokenOnceKnown } from '@tally/testkit/records/token'
import { connectTo } from '@tally/testkit/servers/kafka'
import { openWholeRedis } from '@tally/testkit/servers/redis'
import { openProcesses, type Processes } from './processes.ts'

export const prefix = 'chaos'
export const partitions = 6
/** The partition of an event's records. */
export const shardOf = (eventId: string): number => partitionOf(Buffer.from(eventId), partitions)

/** Tally's processes on servers of their own: what the load and the checks use. */
export type System = Processes & {
  dataFolder: string
  /** Straight to the servers: what the tests themselves do must not meet the faults. */
  db: Postgres
  kafka: KafkaConnection
  /** The environment of Tally's processes and commands. */
  env: Record<string, string>
  /** A key of an organization with all scopes; waits until the organization is known. */
  key: (organizationId: string) => Promise<string>
  /** Sentences about processes and servers that ended unexpectedly. */
  deaths: string[]
  stop: () => Promise<void>
}

export type SystemWanted = {
  folder: string
  projectors?: number
  queries?: number
  rateLimits?: string
  log?: (line: string) => void
  signal?: AbortSignal
}

type Release = () => Promise<unknown> | unknown

/** What the servers of a system are started with. */
export type Opening = Required<Pick<SystemWanted, 'folder' | 'log'>> & {
  dataFolder: string
  signal: AbortSignal | undefined
  onDeath: (message: string) => void
  /** Called with how to end what was started; the last one ends first. */
  onRelease: (release: Release) => void
}

type Addresses = { kafkaBrokers: string; databaseUrl: string; redisUrl: string }

/** Servers that run, and how the tests and Tally's processes reach them. */
type Opened<Servers> = {
  servers: Servers
  direct: Addresses
  reached: Addresses
  env?: Record<string, string>
}

/** Starts servers by `open`, and Tally's processes on them. If one cannot be started, the rest is stopped again. */
export async function openSystem<Servers>(
  { folder, projectors = 2, queries = 2, rateLimits, log = () => {}, signal }: SystemWanted,
  open: (opening: Opening) => Promise<Opened<Servers>>,
): Promise<System & Servers> {
  const releases: Release[] = []
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  try {
    const dataFolder = join(folder, 'data')
    mkdirSync(dataFolder, { recursive: true })
    const deaths: string[] = []
    const onDeath = (message: string) => void deaths.push(message)
    const onRelease = (release: Release) => void releases.push(release)
    const opened = await open({ folder, dataFolder, log, signal, onDeath, onRelease })
    const { servers, direct, reached } = opened
    const { db, kafka, redis } = await openDirectly(direct, onRelease)
    const env = {
      ...environmentOf({ ...reached, name: prefix }),
      ...(rateLimits !== undefined && { RATE_LIMITS: rateLimits }),
      ...opened.env,
    }
    const processes = openProcesses({ env, folder, onRelease, onDeath })
    const key = (organizationId: string) => tokenOnceKnown({ db, redis, redisPrefix: prefix }, organizationId)
    await Promise.all([
      ...Array.from({ length: queries }, () => processes.startQuery()),
      ...Array.from({ length: projectors }, () => processes.startProjector()),
    ])
    return { ...servers, dataFolder, db, kafka, deaths, stop, env, key, ...processes }
  } catch (error) {
    await stop()
    signal?.throwIfAborted()
    throw error
  }
}

/** Connections past what the faults break; creates the schema and the topics. */
async function openDirectly(
  { databaseUrl, kafkaBrokers, redisUrl }: Addresses,
  onRelease: Opening['onRelease'],
) {
  const options = { name: 'chaos', onError: () => {} }
  const db = openPostgres(databaseUrl, { ...options, max: 3, statementTimeoutMs: 30_000 })
  onRelease(() => db.destroy())
  await migrate(db)
  const kafka = connectTo(kafkaBrokers)
  onRelease(() => kafka.close())
  // As many replicas as the brokers give each topic.
  await createTopics(kafka, { topicPrefix: prefix, partitions, replicationFactor: -1 })
  const redis = openWholeRedis(redisUrl, { ...options, commandTimeoutMs: 60_000 })
  onRelease(() => redis.disconnect())
  await whenReady(redis, 60_000)
  return { db, kafka, redis }
}
