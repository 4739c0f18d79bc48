import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LocalServers, startServers } from '../servers/index.ts'
import { passwordIn } from '../servers/password.ts'
import { preferPort } from '../servers/ports.ts'
import { addresses, howToSignIn, lastWords, log, step } from '../words.ts'
import { type ForGuides, type ForRunbook, writeEnvFile } from './envFile.ts'
import { demoAdministrator } from './firstAdministrator.ts'
import {
  countsPath,
  demoKey,
  eventIn,
  eventsOf,
  feedOrganizations,
  type Key,
  untilCounted,
} from './firstAnswer.ts'
import { createStartAgain } from './startAgain.ts'
import { type RunContext, type Service, startService, tally } from './tally.ts'

export type DemoOptions = {
  /** The folder of this checkout that holds data and logs. */
  local: string
  feed: boolean
  fresh: boolean
  /** Ends the run. */
  signal: AbortSignal
}

/** What stops the parts, in the order in which they were started. */
type Releases = (() => Promise<void>)[]

/**
 * Runs all of Tally until `signal` says stop, or something that should run cannot be started again. Whatever was
 * started is stopped in the reverse order. Always throws in the end: the reason, also if that is `signal`'s.
 */
export async function runTally(options: DemoOptions): Promise<void> {
  const died = new AbortController()
  const signal = AbortSignal.any([options.signal, died.signal])
  const onDeath = createStartAgain({ log, giveUp: error => died.abort(error), signal })
  const releases: Releases = []
  try {
    await bringUp({ ...options, signal }, onDeath, releases)
    await new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve())
    })
  } catch (error) {
    died.abort(error)
  }
  log('Stopping ...')
  for (const release of releases.toReversed()) await release()
  log('Stopped')
  signal.throwIfAborted()
}

async function bringUp(
  options: DemoOptions,
  onDeath: RunContext['onDeath'],
  releases: Releases,
): Promise<void> {
  const { local, fresh, signal } = options
  const folders = { dataFolder: join(local, 'data'), logFolder: join(local, 'logs') }
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL } = process.env
  const wanted = { kafka: !KAFKA_BROKERS, postgres: !DATABASE_URL, redis: !REDIS_URL }
  const servers = await startServers({ ...folders, ...wanted, fresh, log, onDeath, signal })
  releases.push(servers.stop)

  const env = await settings(servers, folders.dataFolder)
  const context: RunContext = { env, logFolder: folders.logFolder, signal, onDeath }
  const keep: Keep = (name, service) =>
    step(name, async () => {
      const { isReady, stop } = await startService(name, service, context)
      releases.push(stop)
      return isReady
    })
  await step('schema', () => tally(['migrate'], context))
  await step('topics', () => tally(['topics', 'create'], context))
  const ops = await startServices(keep)
  const address = `http://127.0.0.1:${env.QUERY_PORT}`
  const known: Partial<ForGuides & ForRunbook> = { TALLY_URL: address, ...ops }
  const envFile = join(local, 'env')
  const remember = (more: Partial<ForGuides>) => writeEnvFile(envFile, servers, Object.assign(known, more))
  remember({})

  const area = `http://${env.ADMIN_HOST}:${env.ADMIN_PORT}`
  process.stdout.write(addresses({ address, ops: ops.QUERY, area, envFile, feed: options.feed }))
  await firstAnswer({ ...options, address, keep, remember }, context).catch(error => {
    signal.throwIfAborted()
    log(`${error instanceof Error ? error.message : error}\nTally goes on without.`)
  })
}

/** Starts a service and keeps it running; returns once it is ready. */
type Keep = (name: string, service: Service) => Promise<unknown>

/** Starts projector, query and admin; returns the addresses of their operations ports. */
async function startServices(keep: Keep): Promise<ForRunbook> {
  const named = Number(process.env.OPS_PORT || 0)
  const ops: ForRunbook = { PROJECTOR: '', QUERY: '', ADMIN: '' }
  for (const [index, command] of (['projector', 'query', 'admin'] as const).entries()) {
    const port = named ? named + index : await preferPort(9090 + index)
    await keep(command, withOps(command, port))
    ops[command.toUpperCase() as keyof ForRunbook] = `http://127.0.0.1:${port}`
  }
  return ops
}

type FirstAnswer = DemoOptions & {
  address: string
  keep: Keep
  /** Writes what else the guides need into the file for other shells. */
  remember: (more: Partial<ForGuides>) => string
}

/** Starts the feed, and prints a sign-in, and a key with a path that answers. */
async function firstAnswer(run: FirstAnswer, context: RunContext): Promise<void> {
  const { local, feed, fresh, signal, address, keep, remember } = run
  const keyFile = join(local, 'demo-key.json')
  const administratorFile = join(local, 'demo-administrator.json')
  const eveningFile = join(local, 'demo-evening.json')
  if (fresh) for (const file of [keyFile, administratorFile, eveningFile]) rmSync(file, { force: true })
  const organizations = await feedOrganizations(context)
  const findKey = () => demoKey(address, keyFile, organizations, context)
  let key = await findKey().catch(() => {
    signal.throwIfAborted()
    return undefined
  })
  const events = key === undefined ? [] : await eventsOf(address, key.token, signal)
  let path = countsPath(events)
  if (feed) await keep('feed', { args: feedArguments(eveningFile) })
  if (feed) key ??= await untilKnown(findKey, signal)
  const signIn = key && (await demoAdministrator(administratorFile, key.organizationId, context))
  if (signIn !== undefined) process.stdout.write(howToSignIn(signIn))
  if (feed && key !== undefined) {
    const { token } = key
    path = await step('first answer', () => untilCounted(address, token, signal))
  }
  const envFile = key && remember({ TALLY_KEY: key.token, EVENT_ID: eventIn(path) })
  process.stdout.write(lastWords({ address, key, path, envFile }))
}

/** The settings of every process: where the servers are, and this machine's own ports. */
async function settings(servers: LocalServers, dataFolder: string): Promise<Record<string, string>> {
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL, OPS_HOST } = process.env
  const { QUERY_HOST, QUERY_PORT, QUERY_DRAIN_MS } = process.env
  const { ADMIN_HOST, ADMIN_PORT, ADMIN_SECRET_KEY, ADMIN_API_URL } = process.env
  const queryPort = QUERY_PORT || String(await preferPort(8080))
  return {
    KAFKA_BROKERS: KAFKA_BROKERS || servers.kafkaBrokers,
    DATABASE_URL: DATABASE_URL || servers.databaseUrl,
    REDIS_URL: REDIS_URL || servers.redisUrl,
    QUERY_HOST: QUERY_HOST || '127.0.0.1',
    QUERY_PORT: queryPort,
    QUERY_DRAIN_MS: QUERY_DRAIN_MS || '0',
    ADMIN_HOST: ADMIN_HOST || '127.0.0.1',
    ADMIN_PORT: ADMIN_PORT || String(await preferPort(8081)),
    ADMIN_API_URL: ADMIN_API_URL || `http://127.0.0.1:${queryPort}`,
    ADMIN_SECRET_KEY: ADMIN_SECRET_KEY || passwordIn(join(dataFolder, 'admin-secret-key')),
    OPS_HOST: OPS_HOST || '127.0.0.1',
  }
}

function withOps(command: string, port: number): Service {
  return {
    args: [command],
    env: { OPS_PORT: String(port) },
    readyAt: `http://127.0.0.1:${port}/readyz`,
  }
}

/** Endless evenings from today on. The next start goes on where this one ends: `eveningFile` keeps that. */
function feedArguments(eveningFile: string): string[] {
  const today = new Intl.DateTimeFormat('en-CA').format(new Date())
  const seed = String(randomInt(1, 2 ** 31))
  return ['feed', '--evenings', '0', '--rate', '20', '--date', today, '--seed', seed, '--resume', eveningFile]
}

/** A key of the feed's first organization; it becomes known with the feed's first records. */
async function untilKnown(findKey: () => Promise<Key>, signal: AbortSignal): Promise<Key> {
  for (const until = Date.now() + 60_000; ; await sleep(500, undefined, { signal })) {
    try {
      return await findKey()
    } catch (error) {
      signal.throwIfAborted()
      if (Date.now() < until) continue
      const hint =
        'no organization of the feed has a key after 60 s; see the logs of the feed and the projector'
      throw new Error(`${hint}\n${(error as Error).message}`)
    }
  }
}
