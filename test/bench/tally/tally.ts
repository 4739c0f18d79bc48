import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '@tally/platform'
import { migrate } from '@tally/schema'
import { environmentOf } from '@tally/testkit/processes/environment'
import { tokenOnceKnown } from '@tally/testkit/records/token'
import { earliestAsOf } from '@tally/testkit/servers/watermarks'
import { type Service, startService } from '../../chaos/system/service.ts'
import type { DataSet } from '../data/preload.ts'
import type { Bench, Database } from '../run/bench.ts'
import { checkAnswers, untilRight } from './answers.ts'

/** Tally over a data set: a projector and a query process as users start them, a database and a group of their own. */
export type RunningTally = {
  projector: Service
  query: Service
  db: Postgres
  databaseUrl: string
  /** Starts one more process of it, which ends with the others. */
  startAnother: (command: 'projector' | 'query') => Promise<Service>
  /** The environment of its processes. */
  env: Record<string, string>
  /** Where an event's answers begin, for HTTP. */
  addressOf: (eventId: string) => string
  /** Of the event's organization; known after `untilAnswered`. */
  tokenOf: (eventId: string) => string
  /** When the projector was given its partitions, just before its first read (epoch milliseconds). */
  assignedAtMs: number
  /** Waits until every event's last day is answered right; returns the moment (epoch milliseconds). */
  untilAnswered: () => Promise<number>
  /** The moment (epoch milliseconds) up to which all that Kafka has is counted and published. */
  countedUpTo: () => Promise<number>
  /** Waits until all that Kafka has is counted and published. */
  untilCounted: () => Promise<void>
  /** The same, then compares every answer; throws on a wrong one. */
  check: () => Promise<void>
  stop: () => Promise<void>
}

/** Starts Tally over a data set, and waits for its partitions. Without a `database`, `stop` drops its own. */
export async function startTally(bench: Bench, data: DataSet, database?: Database): Promise<RunningTally> {
  const releases: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  try {
    const own = database ?? (await bench.newDatabase())
    if (database === undefined) releases.push(own.drop)
    return await start(bench, data, { ...own, releases, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts Tally over a data set, works with it, and stops it. */
export async function withTally<Result>(
  bench: Bench,
  data: DataSet,
  work: (tally: RunningTally) => Promise<Result>,
): Promise<Result> {
  const tally = await startTally(bench, data)
  try {
    return await work(tally)
  } finally {
    await tally.stop()
  }
}

async function start(
  bench: Bench,
  data: DataSet,
  {
    db,
    url,
    releases,
    stop,
  }: Omit<Database, 'drop'> & { releases: (() => Promise<unknown>)[]; stop: () => Promise<void> },
): Promise<RunningTally> {
  const { servers, redis, signal } = bench
  const name = `tally-${bench.nextNumber()}`
  // The bench's own Redis: nothing else is in it.
  releases.push(() => redis.flushall())
  await migrate(db)
  const env = environmentOf({
    kafkaBrokers: servers.kafkaBrokers,
    databaseUrl: url,
    redisUrl: servers.redisUrl,
    name,
    topicPrefix: data.topicPrefix,
  })
  const startOne = async (command: 'projector' | 'query', suffix = '') => {
    const service = await startService(command, {
      name: `${name}-${command}${suffix}`,
      env,
      folder: bench.folder,
    })
    releases.push(async () => service.hasEnded() || (await service.end('SIGTERM')))
    return service
  }
  const query = await startOne('query')
  await bench.settleServers()
  const projector = await startOne('projector')
  const throwIfGone = () => {
    signal.throwIfAborted()
    const gone = [projector, query].find(service => service.hasEnded() && !service.isUnwanted())
    if (gone !== undefined) throw new Error(`${gone.name} ended unexpectedly; see ${gone.logFile}`)
  }

  const countedUpTo = () =>
    earliestAsOf(redis, { redisPrefix: name, topicPrefix: data.topicPrefix, partitions: data.partitions })
  const untilCounted = async () => {
    const sinceMs = Date.now()
    while ((await countedUpTo()) < sinceMs) await sleep(20).then(throwIfGone)
  }
  const tokens = new Map<string, string>()
  const addressOf = (eventId: string) => `${query.address}/api/v1/events/${eventId}`
  const tokenOf = (eventId: string) => tokens.get(data.count.organizationIdOf(eventId)) ?? ''
  return {
    projector,
    query,
    db,
    databaseUrl: url,
    startAnother: command => startOne(command, `-${bench.nextNumber()}`),
    env,
    addressOf,
    tokenOf,
    assignedAtMs: await assignedAt(projector, throwIfGone),
    async untilAnswered() {
      const organizationIds = data.count.eventIds().map(data.count.organizationIdOf)
      for (const id of new Set(organizationIds))
        tokens.set(id, await tokenOnceKnown({ db, redis, redisPrefix: name }, id, throwIfGone))
      return untilRight(data.count, { addressOf, tokenOf }, { countedUpTo, throwIfGone })
    },
    countedUpTo,
    untilCounted,
    async check() {
      await untilCounted()
      await checkAnswers(data.count, { addressOf, tokenOf })
    },
    stop,
  }
}

/** The moment of the projector's own log line: a look at the log may be late, the line is not. */
async function assignedAt({ logFile }: Service, throwIfGone: () => void): Promise<number> {
  for (;;) {
    const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1)
    const found = lines.find(line => line.includes('"msg":"partitions assigned"'))
    if (found !== undefined) return Date.parse(JSON.parse(found).time)
    throwIfGone()
    await sleep(20)
  }
}
