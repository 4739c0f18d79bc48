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
import { endOfLog } from '#infra/servers/process.ts'
import { type Disk, mountDisk } from './disk.ts'
import { type Link, openLink } from './link.ts'
import { hostOf, type Names, openNames } from './names.ts'
import { type Service, startService } from './service.ts'

export const prefix = 'chaos'
export const partitions = 6

/** Servers of its own, a link in front of each, and Tally's processes behind the links. */
export type System = {
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
  projectors: Service[]
  queries: Service[]
  /** Starts another one; `env`: its different settings. */
  startProjector: (env?: Record<string, string>) => Promise<Service>
  startQuery: (env?: Record<string, string>) => Promise<Service>
  /** The environment of Tally's processes and commands. */
  env: Record<string, string>
  /** Starts or ends (SIGTERM) projectors until this many run. */
  scaleTo: (projectors: number) => Promise<void>
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
  const { folder, log = () => {}, signal } = wanted
  const releases: (() => Promise<unknown> | unknown)[] = []
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  try {
    return await start({ ...wanted, log }, releases, stop)
  } catch (error) {
    await stop()
    signal?.throwIfAborted()
    throw error
  }

  async function start(
    { projectors = 2, queries = 2, rateLimits }: SystemWanted,
    releases: (() => Promise<unknown> | unknown)[],
    stop: () => Promise<void>,
  ): Promise<System> {
    const dataFolder = join(folder, 'data')
    mkdirSync(dataFolder, { recursive: true })
    const disk = mountDisk(join(dataFolder, 'postgres'))
    const deaths: string[] = []
    const servers = await startServers({
      dataFolder,
      logFolder: folder,
      log,
      onDeath: message => deaths.push(message),
      ...(signal && { signal }),
    })
    // Released in reverse: stop, unmount, delete.
    releases.push(servers.forget, () => disk?.remove(), servers.stop)
    const links = {
      kafka: await openLink(Number(servers.kafkaBrokers.split(':')[1]), { host: hostOf('kafka') }),
      postgres: await openLink(Number(new URL(servers.databaseUrl).port)),
      redis: await openLink(Number(new URL(servers.redisUrl).port)),
    }
    releases.push(() => Promise.all(Object.values(links).map(link => link.close())))

    const names = openNames(join(folder, 'names'))
    const through = (url: string, part: PartName) =>
      Object.assign(new URL(url), { host: `${hostOf(part)}:${links[part].port}` }).href
    const env = {
      ...environmentOf({
        kafkaBrokers: `${hostOf('kafka')}:${links.kafka.port}`,
        databaseUrl: through(servers.databaseUrl, 'postgres'),
        redisUrl: through(servers.redisUrl, 'redis'),
        name: prefix,
      }),
      ...(rateLimits !== undefined && { RATE_LIMITS: rateLimits }),
      NODE_OPTIONS: names.options,
    }

    const db = openPostgres(servers.databaseUrl, {
      name: 'chaos',
      max: 3,
      statementTimeoutMs: 30_000,
      onError: () => {},
    })
    releases.push(() => db.destroy())
    await migrate(db)
    const kafka = connectKafka(
      { brokers: [servers.kafkaBrokers], ssl: false },
      { clientId: 'chaos', logger: openLogger('chaos', 'silent') },
    )
    releases.push(() => kafka.close())
    await createTopics(kafka, { topicPrefix: prefix, partitions, replicationFactor: 1 })

    let started = 0
    const startOne = async (
      command: 'projector' | 'query',
      among: Service[],
      own: Record<string, string> = {},
    ) => {
      const name = `${command}-${++started}`
      const service = await startService(command, { name, env: { ...env, ...own }, folder })
      releases.push(() => (service.hasEnded() ? undefined : service.end('SIGTERM')))
      void service.ended.then(how => {
        const index = among.indexOf(service)
        if (index >= 0) among.splice(index, 1)
        if (!service.isUnwanted())
          deaths.push(`${name} ended by itself (${how}):\n${endOfLog(service.logFile, 5)}`)
      })
      among.push(service)
      return service
    }
    const system: System = {
      servers,
      links,
      names,
      disk,
      dataFolder,
      db,
      kafka,
      deaths,
      stop,
      projectors: [],
      queries: [],
      startProjector: own => startOne('projector', system.projectors, own),
      startQuery: own => startOne('query', system.queries, own),
      env,
      async scaleTo(count) {
        const surplus = system.projectors.slice(count)
        await Promise.all([
          ...surplus.map(projector => projector.end('SIGTERM')),
          ...Array.from({ length: Math.max(0, count - system.projectors.length) }, () =>
            system.startProjector(),
          ),
        ])
      },
      key: organizationId => makeKey(system, organizationId),
    }
    await Promise.all([
      ...Array.from({ length: queries }, () => system.startQuery()),
      ...Array.from({ length: projectors }, () => system.startProjector()),
    ])
    return system
  }
}

async function makeKey({ db, servers }: System, organizationId: string): Promise<string> {
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
