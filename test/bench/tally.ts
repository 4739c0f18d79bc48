import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { copyKey, createKey } from '@tally/api-keys'
import { topicNames } from '@tally/kafka'
import { asOfField, migrate, type Postgres, redisKeys } from '@tally/read-models'
import { type Service, startService } from '../chaos/service.ts'
import { checkAnswers, untilRight } from './answers.ts'
import type { Bench } from './bench.ts'
import { type Preloaded, partitions } from './data/preload.ts'

/** Tally over a data set: one projector and one query process as users start them, a database and a group of their own. */
export type RunningTally = {
  projector: Service
  query: Service
  db: Postgres
  databaseUrl: string
  /** Where an event's answers begin, for HTTP. */
  addressOf: (eventId: string) => string
  tokenOf: (eventId: string) => string
  /** When the projector was given its partitions, just before its first read (epoch milliseconds). */
  assignedAtMs: number
  /** Waits until every event's last day is answered right; returns the moment (epoch milliseconds). */
  untilAnswered: () => Promise<number>
  /** Waits until everything that Kafka has is counted and published, then compares every answer; throws on a wrong one. */
  check: () => Promise<void>
  stop: () => Promise<void>
}

// So high that no load meets it; each request is counted against it all the same.
const rateLimits = 'Trial=999999999,ActiveDayPass=999999999,Inactive=999999999'

/** Starts Tally over a preloaded data set; returns once the projector has its partitions. */
export async function startTally(bench: Bench, data: Preloaded): Promise<RunningTally> {
  const { servers, signal } = bench
  const name = `tally-${bench.nextNumber()}`
  const database = await bench.newDatabase()
  await migrate(database.db)
  const env = {
    KAFKA_BROKERS: servers.kafkaBrokers,
    KAFKA_GROUP_ID: name,
    TOPIC_PREFIX: data.topicPrefix,
    DATABASE_URL: database.url,
    REDIS_URL: servers.redisUrl,
    REDIS_PREFIX: name,
    QUERY_HOST: '127.0.0.1',
    QUERY_PORT: '0',
    OPS_HOST: '127.0.0.1',
    OPS_PORT: '0',
    RATE_LIMITS: rateLimits,
    EDITION: 'cloud',
    LOG_LEVEL: 'info',
  }
  const start = (command: 'projector' | 'query') =>
    startService(command, { name: `${name}-${command}`, env, folder: bench.folder })
  const query = await start('query')
  await bench.settleServers()
  const projector = await start('projector')
  const tokens = new Map<string, string>()
  const tokenOf = (eventId: string) => tokens.get(data.count.organizationIdOf(eventId)) ?? ''
  const addressOf = (eventId: string) => `${query.address}/api/v1/events/${eventId}`
  const asked = { addressOf, tokenOf }

  const untilAnswered = async (): Promise<number> => {
    await makeKeys(bench, { db: database.db, name, data, tokens, projector })
    return untilRight(data.count, asked, () => throwIfGone(projector, signal))
  }
  return {
    projector,
    query,
    db: database.db,
    databaseUrl: database.url,
    ...asked,
    assignedAtMs: await assignedAt(projector),
    untilAnswered,
    async check() {
      await untilCounted(bench, name, data)
      await checkAnswers(data.count, asked)
    },
    async stop() {
      await Promise.all([projector.end('SIGTERM'), query.end('SIGTERM')])
      await database.drop()
      // The bench's own Redis: nothing else is in it.
      await bench.redis.flushall()
    },
  }
}

/** The moment of the projector's own log line: a look at the log may be late, the line is not. */
async function assignedAt(projector: Service): Promise<number> {
  for (;;) {
    const line = readFileSync(projector.logFile, 'utf8')
      .split('\n')
      .find(text => text.includes('"partitions assigned"') && text.endsWith('}'))
    if (line !== undefined) return Date.parse(JSON.parse(line).time)
    throwIfGone(projector)
    await pause(20)
  }
}

function throwIfGone(service: Service, signal?: AbortSignal): void {
  signal?.throwIfAborted()
  if (service.hasEnded()) throw new Error(`${service.name} ended by itself; see ${service.logFile}`)
}

/** A key with all scopes for each organization, as soon as the projector knows it. */
async function makeKeys(
  { redis, signal }: Bench,
  of: { db: Postgres; name: string; data: Preloaded; tokens: Map<string, string>; projector: Service },
): Promise<void> {
  const { db, name, data, tokens, projector } = of
  for (const organizationId of new Set(data.count.eventIds().map(data.count.organizationIdOf))) {
    if (tokens.has(organizationId)) continue
    const scopes = ['events:read', 'analytics:read', 'orders:read']
    const wanted = { organizationId, name: 'bench', scopes, eventId: null, expiresAt: null }
    for (const until = Date.now() + 60_000; !tokens.has(organizationId); await pause(20)) {
      throwIfGone(projector, signal)
      const made = await createKey(db, wanted as never).catch(error => {
        if (Date.now() > until) throw error
      })
      if (made === undefined) continue
      await copyKey(redis, redisKeys(name), made.stored)
      tokens.set(organizationId, made.token)
    }
  }
}

/** `meta.asOf` of every partition has passed this moment: nothing is left to be counted or published. */
async function untilCounted({ redis, signal }: Bench, name: string, data: Preloaded): Promise<void> {
  const sinceMs = Date.now()
  const { organizations, events, orders, refunds } = topicNames(data.topicPrefix)
  const shards = Array.from({ length: partitions }, (_, shard) => shard)
  const wanted = [
    { shard: 0, topic: organizations },
    ...[events, orders, refunds].flatMap(topic => shards.map(shard => ({ shard, topic }))),
  ]
  for (let isCounted = false; !isCounted; await pause(20)) {
    signal.throwIfAborted()
    const moments = await Promise.all(
      wanted.map(({ shard, topic }) => redis.hget(redisKeys(name).shard(shard), asOfField(topic))),
    )
    isCounted = moments.every(moment => Number(moment ?? 0) >= sinceMs)
  }
}
