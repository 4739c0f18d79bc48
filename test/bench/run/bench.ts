import { join } from 'node:path'
import type { KafkaConnection } from '@tally/kafka'
import { type Postgres, whenReady } from '@tally/platform'
import { openPostgres } from '@tally/schema'
import { connectTo } from '@tally/testkit/servers/kafka'
import { openWholeRedis, type WholeRedis } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { type LocalServers, startServers } from '#infra/servers/index.ts'
import { type Preloaded, preload } from '../data/preload.ts'
import type { Shape } from '../data/shape.ts'
import type { Options } from './options.ts'

/** What every row measures with. */
export type Bench = {
  options: Options
  /** Logs and data of this run. */
  folder: string
  servers: LocalServers
  kafka: KafkaConnection
  redis: WholeRedis
  /** The data set in topics of its own; made once for a run and a name. */
  data: (name: string, shape: () => Shape) => Promise<Preloaded>
  /** Frees the count of a data set: with a large one the bench itself would pause for garbage collection. */
  forget: (...names: string[]) => void
  /** A new empty database; `drop` closes and deletes it. */
  newDatabase: () => Promise<Database>
  /** Runs a checkpoint, so that no contender pays for the one measured before it. */
  settleServers: () => Promise<void>
  /** A number that no other call returns, so that groups, folders and databases are never reused. */
  nextNumber: () => number
  log: (line: string) => void
  signal: AbortSignal
  stop: () => Promise<void>
}

/** `drop` closes and deletes it. */
export type Database = { url: string; db: Postgres; drop: () => Promise<void> }
export type BenchWanted = Pick<Bench, 'options' | 'folder' | 'log' | 'signal'>

/** Starts servers with the durability of `npm start`, and connects to them. */
export async function openBench(wanted: BenchWanted): Promise<Bench> {
  const { folder, log, signal } = wanted
  const died = new AbortController()
  const servers = await startServers({
    dataFolder: join(folder, 'data'),
    logFolder: folder,
    log,
    onDeath: message => died.abort(new Error(message)),
    signal,
  })
  const kafka = connectTo(servers.kafkaBrokers)
  const redis = openWholeRedis(servers.redisUrl, {
    name: 'bench',
    commandTimeoutMs: 30_000,
    onError: () => {},
  })
  await whenReady(redis, 5_000)
  const admin = open(servers.databaseUrl)
  const known = new Map<string, Promise<Preloaded>>()
  let number = 0
  const nextNumber = () => ++number

  return {
    ...wanted,
    signal: AbortSignal.any([signal, died.signal]),
    servers,
    kafka,
    redis,
    nextNumber,
    async data(name, shape) {
      const load = async () => {
        const began = performance.now()
        const loaded = await preload(kafka, `bench-${name}`, shape())
        const seconds = ((performance.now() - began) / 1000).toFixed(1)
        log(
          `data ${name}: ${loaded.total} records of ${loaded.count.orders()} orders in Kafka (${seconds} s)`,
        )
        return loaded
      }
      const loading = known.get(name) ?? load()
      known.set(name, loading)
      return loading
    },
    forget: (...names) => names.forEach(name => void known.delete(name)),
    async newDatabase() {
      const name = `bench_${nextNumber()}`
      await sql.raw(`create database ${name}`).execute(admin)
      const url = Object.assign(new URL(servers.databaseUrl), { pathname: `/${name}` }).href
      const db = open(url)
      const drop = async () => {
        await db.destroy()
        await sql.raw(`drop database ${name} with (force)`).execute(admin)
      }
      return { url, db, drop }
    },
    settleServers: async () => void (await sql`checkpoint`.execute(admin)),
    async stop() {
      redis.disconnect()
      await Promise.all([kafka.close(), admin.destroy()])
      await servers.forget()
    },
  }
}

function open(url: string): Postgres {
  return openPostgres(url, { name: 'bench', max: 3, statementTimeoutMs: 600_000, onError: () => {} })
}
