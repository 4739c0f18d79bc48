import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyKey, createKey } from '@tally/access'
import { connectKafka, createTopics, type KafkaConnection } from '@tally/kafka'
import { migrate, openPostgres } from '@tally/read-models'
import { openLogger } from '@tally/runtime'
import { type Postgres, whenReady } from '@tally/storage'
import { environmentOf } from '@tally/testkit/processes/environment'
import { allKeys, openWholeRedis } from '@tally/testkit/servers/redis'
import { type LocalServers, type PartName, startServers } from '#infra/servers/index.ts'
import { type Disk, mountDisk } from './disk.ts'
import { type Link, openLink } from './link.ts'
import { hostOf, type Names, openNames } from './names.ts'
import { openProcesses, type Processes } from './processes.ts'

export const prefix = 'chaos'
export const partitions = 6

/** Servers of its own, a link in front of each, and Tally's processes behind the links. */
export type System = Processes & {
  servers: LocalServers
  links: Record<PartName, Link>
  /** The host names by which Tally's processes reach the links. */
  names: Names
  /** A disk for Postgres alone; undefined if it cannot be mounted. */
  disk: Disk | undefined
  dataFolder: string
  /** Straight to the servers: what the tests themselves do must not meet the faults of the links. */
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

/** Starts everything. If something cannot be started, the rest is stopped again. */
export async function startSystem(wanted: SystemWanted): Promise<System> {
  const releases: Release[] = []
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  try {
    return await start(wanted, releases, stop)
  } catch (error) {
    await stop()
    wanted.signal?.throwIfAborted()
    throw error
  }
}

type Release = () => Promise<unknown> | unknown

async function start(
  { folder, projectors = 2, queries = 2, rateLimits, log = () => {}, signal }: SystemWanted,
  releases: Release[],
  stop: () => Promise<void>,
): Promise<System> {
  const dataFolder = join(folder, 'data')
  mkdirSync(dataFolder, { recursive: true })
  const disk = mountDisk(join(dataFolder, 'postgres'))
  const deaths: string[] = []
  const onDeath = (message: string) => void deaths.push(message)
  const servers = await startServers({
    dataFolder,
    logFolder: folder,
    log,
    onDeath,
    ...(signal && { signal }),
  })
  // Released in reverse: stop, unmount, delete.
  releases.push(servers.forget, () => disk?.remove(), servers.stop)
  const links = await openLinks(servers)
  releases.push(() => Promise.all(Object.values(links).map(link => link.close())))
  const { db, kafka } = await openDirectly(servers, releases)

  const names = openNames(join(folder, 'names'))
  const env = {
    ...environmentOf({ ...addressesOf(servers, links), name: prefix }),
    ...(rateLimits !== undefined && { RATE_LIMITS: rateLimits }),
    NODE_OPTIONS: names.options,
  }
  const onRelease = (release: Release) => void releases.push(release)
  const processes = openProcesses({ env, folder, onRelease, onDeath })
  const key = (organizationId: string) => makeKey({ db, servers }, organizationId)
  await Promise.all([
    ...Array.from({ length: queries }, () => processes.startQuery()),
    ...Array.from({ length: projectors }, () => processes.startProjector()),
  ])
  return { servers, links, names, disk, dataFolder, db, kafka, deaths, stop, env, key, ...processes }
}

async function openLinks(servers: LocalServers): Promise<Record<PartName, Link>> {
  return {
    kafka: await openLink(Number(servers.kafkaBrokers.split(':')[1]), { host: hostOf('kafka') }),
    postgres: await openLink(Number(new URL(servers.databaseUrl).port)),
    redis: await openLink(Number(new URL(servers.redisUrl).port)),
  }
}

/** The addresses that Tally's processes use: those of the links. */
function addressesOf(servers: LocalServers, links: Record<PartName, Link>) {
  const through = (url: string, part: PartName) =>
    Object.assign(new URL(url), { host: `${hostOf(part)}:${links[part].port}` }).href
  return {
    kafkaBrokers: `${hostOf('kafka')}:${links.kafka.port}`,
    databaseUrl: through(servers.databaseUrl, 'postgres'),
    redisUrl: through(servers.redisUrl, 'redis'),
  }
}

/** Connections that do not go through the links; creates the schema and the topics. */
async function openDirectly({ databaseUrl, kafkaBrokers }: LocalServers, releases: Release[]) {
  const db = openPostgres(databaseUrl, {
    name: 'chaos',
    max: 3,
    statementTimeoutMs: 30_000,
    onError: () => {},
  })
  releases.push(() => db.destroy())
  await migrate(db)
  const kafka = connectKafka(
    { brokers: [kafkaBrokers], ssl: false },
    { clientId: 'chaos', logger: openLogger('chaos', 'silent') },
  )
  releases.push(() => kafka.close())
  await createTopics(kafka, { topicPrefix: prefix, partitions, replicationFactor: 1 })
  return { db, kafka }
}

async function makeKey(
  { db, servers }: Pick<System, 'db' | 'servers'>,
  organizationId: string,
): Promise<string> {
  const wanted = {
    organizationId,
    name: 'chaos',
    scopes: ['events:read', 'analytics:read', 'orders:read'],
    eventId: null,
    expiresAt: null,
  }
  for (const until = Date.now() + 30_000; ; await sleep(100)) {
    try {
      const { stored, token } = await createKey(db, wanted as Parameters<typeof createKey>[1])
      const redis = openWholeRedis([servers.redisUrl], {
        name: 'chaos',
        commandTimeoutMs: 5_000,
        onError: () => {},
      })
      await whenReady(redis, 5_000)
      await copyKey(redis, allKeys(prefix), stored).finally(() => redis.disconnect())
      return token
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}
