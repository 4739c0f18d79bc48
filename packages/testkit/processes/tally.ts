import { randomBytes } from 'node:crypto'
import type { NewKey } from '@tally/access'
import {
  createTopics,
  type KafkaConnection,
  openProducer,
  type RecordHeaders,
  type TopicNames,
  topicNames,
} from '@tally/kafka'
import { whenReady } from '@tally/platform'
import { afterAll, beforeAll, inject } from 'vitest'
import { makeToken } from '../records/token.ts'
import { asRole, freshDatabase, type Service, type TestDatabase } from '../servers/database.ts'
import { connectTo } from '../servers/kafka.ts'
import { openWholeRedis, type WholeRedis } from '../servers/redis.ts'
import { earliestAsOf } from '../servers/watermarks.ts'
import { until } from '../until.ts'
import { environmentOf } from './environment.ts'
import { type Ask, ask, type Reply } from './http.ts'
import { type Environment, startProcess, type TallyProcess } from './process.ts'

export type TopicType = 'organizations' | 'events' | 'orders' | 'refunds'

/** A record as a till sends it; without `key`, its own organizationId or eventId. */
export type TestRecord = {
  type: TopicType
  // biome-ignore lint/suspicious/noExplicitAny: a bad record may be anything
  value: any
  key?: string | Buffer | null
  headers?: RecordHeaders
}

export type Options = {
  projectors?: number
  queries?: number
  partitions?: number
  settings?: Environment
  /** False: the database is empty. */
  migrated?: boolean
  /** A Postgres other than the run's, for a test that breaks it. */
  server?: string
  /** Brokers other than the run's, for a test that breaks them. */
  brokers?: string
  /** Creates the topics under a prefix; by default, each has as many replicas as the brokers give it. */
  makeTopics?: (kafka: KafkaConnection, topicPrefix: string) => Promise<unknown>
}

/** A process that serves, with the addresses of its API or pages and of its ops port. */
export type Started = { process: TallyProcess; address: string; ops: string }

export type Tally = {
  settings: Environment
  database: TestDatabase
  /** The run's Redis, of whichever kind. */
  redis: WholeRedis
  kafka: KafkaConnection
  projectors: TallyProcess[]
  queries: Started[]
  /** Sends records in their order; resolves when Kafka has them all. A value that is not a Buffer becomes JSON. */
  produce(records: TestRecord[]): Promise<void>
  /** Waits until everything that Kafka has by now is counted. */
  settle(): Promise<void>
  /** `produce`, then `settle`. */
  count(records: TestRecord[]): Promise<void>
  /** Creates a key, with all scopes by default, and returns its token. */
  key(organizationId: string, over?: Partial<NewKey>): Promise<string>
  /** Sends a request to a query process, by default the first. */
  get(path: string, ask?: Ask & { query?: number }): Promise<Reply>
  startProjector(): Promise<TallyProcess>
  startQuery(settings?: Environment): Promise<Started>
  startAdmin(settings?: Environment): Promise<Started>
  stop(): Promise<void>
}

/** Tally's processes for the tests of one file: started before the first, stopped after the last. */
export function useTally(options: Options = {}): Tally {
  const tally = {} as Tally
  beforeAll(async () => {
    Object.assign(tally, await startTally(options))
  })
  afterAll(() => tally.stop?.())
  return tally
}

/** TALLY_TEST_PROJECTORS is how many projectors a test has that does not choose. */
const usualProjectors = () => Number(process.env.TALLY_TEST_PROJECTORS || 1)

/** The brokers' setting `default.replication.factor`. */
const usualReplicas = -1

const usualTopics = (partitions: number) => (kafka: KafkaConnection, topicPrefix: string) =>
  createTopics(kafka, { topicPrefix, partitions, replicationFactor: usualReplicas })

type Release = () => Promise<unknown> | unknown

/** Starts real processes over a database, topics, a consumer group and a Redis prefix of their own. */
export async function startTally(options: Options): Promise<Tally> {
  const { projectors = usualProjectors(), queries = 1 } = options
  const releases: Release[] = []
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  try {
    const opened = await openServers(options, releases)
    const tally: Tally = { ...opened, ...openProcesses(opened.settings, releases), stop }
    const [first] = await Promise.all([
      Promise.all(Array.from({ length: queries }, () => tally.startQuery())),
      ...Array.from({ length: projectors }, () => tally.startProjector()),
    ])
    tally.queries.push(...first)
    return tally
  } catch (error) {
    await stop()
    throw error
  }
}

/** The servers as one test file has them, and what a test does there without Tally's processes. */
async function openServers(options: Options, releases: Release[]) {
  const servers = inject('servers')
  const {
    brokers = servers.kafkaBrokers,
    partitions = 2,
    makeTopics = usualTopics(partitions),
    migrated = true,
    server,
  } = options
  const name = `test-${randomBytes(6).toString('hex')}`
  const database = await freshDatabase({ migrated, ...(server !== undefined && { server }) })
  releases.push(database.drop)
  const addresses = { kafkaBrokers: brokers, databaseUrl: database.url, redisUrl: servers.redisUrl }
  const settings = { ...environmentOf({ ...addresses, name }), ...options.settings }
  const kafka = connectTo(brokers)
  releases.push(() => kafka.close())
  await makeTopics(kafka, name)
  const producer = await openProducer(kafka)
  releases.push(() => producer.close())
  const redis = openWholeRedis(servers.redisUrl, {
    name: 'test',
    commandTimeoutMs: 60_000,
    onError: () => {},
  })
  releases.push(() => redis.disconnect())
  await whenReady(redis, 60_000)

  const produce: Tally['produce'] = records =>
    producer.send(records.map(record => outgoing(topicNames(name), record)))
  const settle = async () => {
    const sinceMs = Date.now()
    const of = { redisPrefix: settings.REDIS_PREFIX, topicPrefix: settings.TOPIC_PREFIX, partitions }
    await until('everything produced is counted', async () => (await earliestAsOf(redis, of)) >= sinceMs)
  }
  const count: Tally['count'] = async records => {
    await produce(records)
    await settle()
  }
  const key: Tally['key'] = (organizationId, over) =>
    makeToken({ db: database.db, redis, redisPrefix: name }, organizationId, over)
  return { settings, database, redis, kafka, produce, settle, count, key }
}

function openProcesses(settings: Environment, releases: Release[]) {
  const projectors: Tally['projectors'] = []
  const queries: Tally['queries'] = []
  const start = async (command: Service, more: Environment = {}) => {
    const { DATABASE_URL = '', ...rest } = { ...settings, ...more }
    const process = startProcess([command], { ...rest, DATABASE_URL: asRole(DATABASE_URL, command) })
    releases.push(() => process.end())
    return { process, ...(await process.started()) }
  }
  const get: Tally['get'] = (path, { query = 0, ...rest } = {}) =>
    ask(queries[query]?.address ?? '', path, rest)
  return {
    projectors,
    queries,
    get,
    async startProjector() {
      const { process } = await start('projector')
      projectors.push(process)
      return process
    },
    startQuery: (more?: Environment) => start('query', more),
    startAdmin: (more?: Environment) => start('admin', more),
  }
}

function outgoing(names: TopicNames, { type, value, key = keyOf(type, value), headers = {} }: TestRecord) {
  const bytes = value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value)
  return { topic: names[type], key, headers, value: bytes }
}

function keyOf(type: TopicType, value: { organizationId?: string; eventId?: string }): string {
  return String(type === 'organizations' ? value.organizationId : value.eventId).toLowerCase()
}
