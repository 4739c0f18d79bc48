import { readFileSync } from 'node:fs'
import { countBrokers, type KafkaConnection } from '@tally/kafka'
import { type Postgres, type RedisClient, timeout } from '@tally/platform'
import { sql } from 'kysely'
import { answerTimeoutMs } from './read.ts'

/** A server that Tally needs: its version, of Kafka its brokers, which tell none; undefined while it is silent. */
export type ServerPart = { name: 'Kafka' | 'Postgres' | 'Redis'; about: string | undefined }
export type Versions = { name: string; version: string }[]

type Servers = { db: Postgres; redis: RedisClient; kafka: KafkaConnection }

/** Whether each server answers now, and with which version. */
export async function readParts({ db, redis, kafka }: Servers): Promise<ServerPart[]> {
  const asks: Record<ServerPart['name'], () => Promise<string>> = {
    Kafka: () => countBrokers(kafka).then(count => (count === 1 ? '1 broker' : `${count} brokers`)),
    Postgres: () =>
      sql<{ version: string }>`select current_setting('server_version') as version`
        .execute(db)
        .then(({ rows }) => rows[0]?.version ?? 'unknown'),
    Redis: () =>
      redis.info('server').then(info => /redis_version:(\S+)/.exec(info)?.[1] ?? 'of an unknown version'),
  }
  return Promise.all(
    Object.entries(asks).map(async ([name, ask]) => ({
      name: name as ServerPart['name'],
      about: await timeout(answerTimeoutMs, ask()).catch(() => undefined),
    })),
  )
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** The versions of what is Tally's own; without the schema's while Postgres does not answer. */
export function versionsWith(schema: string | undefined): Versions {
  return [
    { name: 'Tally', version },
    { name: 'Schema', version: schema ?? 'unknown' },
    { name: 'Node.js', version: process.versions.node },
  ]
}
