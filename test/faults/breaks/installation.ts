import { chmodSync, chownSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTopics, inside, type TopicNames, topicNames } from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import { openPostgres } from '@tally/schema'
import type { Environment } from '@tally/testkit/processes/process'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import type { Admin } from 'kafkajs'
import { sql } from 'kysely'
import { postgresOwner } from '#infra/servers/postgresOwner.ts'
import { type Pair, startPair } from '../../cluster/postgresPair.ts'
import { openRedisNodes, type RedisNodes } from '../../cluster/redisNodes.ts'
import { type GuardedKafka, startGuardedKafka } from '../servers/guardedKafka.ts'
import { makeCertificate } from '../support/certificate.ts'

/** A healthy installation on servers of its own, which a test breaks one piece at a time. */
export type Installation = {
  tally: Tally
  kafka: GuardedKafka
  pair: Pair
  /** A superuser's connection to Tally's database, and one to the standby. */
  db: Postgres
  standby: Postgres
  redises: RedisNodes
  /** The certificate of the TLS listeners of Kafka and Postgres, which expires in 2 days. */
  certificate: string
  key: string
  admin<T>(work: (admin: Admin) => Promise<T>): Promise<T>
  /** Topics of their own, as if counted so long ago (by default just now, see `keepRecent`), with the same group. */
  otherTopics(age?: string): Promise<{ names: TopicNames; settings: Environment }>
  /** As if a projector had just counted all topics that are not older on purpose. */
  keepRecent(): Promise<void>
  stop(): Promise<void>
}

/** Starts Kafka with ACLs, a Postgres pair, and a projector that has counted some orders. */
export async function startInstallation(): Promise<Installation> {
  const redises = openRedisNodes()
  chmodSync(redises.folder, 0o755)
  const releases: (() => unknown)[] = [() => redises.stop()]
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release()
  }
  const released = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting
    releases.push(started.stop)
    return started
  }
  try {
    const { certificate, key } = makeCertificate(redises.folder)
    const [pair, kafka] = await Promise.all([
      released(startPair()),
      released(startGuardedKafka(certificate, key)),
    ])
    const tally = await startTally({
      brokers: kafka.brokers,
      server: pair.primary.url,
      projectors: 1,
      queries: 0,
    })
    releases.push(tally.stop)
    const open = (url: string) => {
      const db = openPostgres(url, {
        name: 'test',
        max: 2,
        statementTimeoutMs: 30_000,
        onlyReads: true,
        onError: () => {},
      })
      releases.push(() => db.destroy())
      return db
    }
    const sagra = newFestival()
    await tally.count([sagra.organization(), sagra.event(), sagra.order(), sagra.order()])
    const db = open(tally.settings.DATABASE_URL ?? '')
    await offerTls(db, { certificate, key, folder: redises.folder })
    return {
      ...{ tally, kafka, pair, db, redises, certificate, key, stop },
      standby: open(pair.standby.url),
      admin: work => inside(tally.kafka).admin.use(work),
      otherTopics: (age = '0 s') => otherTopics({ db, tally }, age),
      keepRecent: () => keepRecent(db),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

let installations = 0

async function otherTopics(
  { db, tally }: Pick<Installation, 'db' | 'tally'>,
  age: string,
): Promise<{ names: TopicNames; settings: Environment }> {
  const topicPrefix = `other-${++installations}`
  await createTopics(tally.kafka, { topicPrefix, partitions: 2, replicationFactor: 1 })
  const names = topicNames(topicPrefix)
  const { events, orders, refunds } = names
  await sql`
insert into shard_offsets (topic, partition, next_offset, revision)
select topic, partition, 0, 0
from unnest(${[events, orders, refunds]}::text[]) as topic, generate_series(0, 1) as partition`.execute(db)
  await sql`
insert into shard_watermarks (topic, partition, as_of)
select topic, partition, clock_timestamp() - ${age}::interval
from shard_offsets where topic like ${`${topicPrefix}.%`}
on conflict (topic, partition) do update set as_of = excluded.as_of`.execute(db)
  return { names, settings: { ...tally.settings, TOPIC_PREFIX: topicPrefix } }
}

/** Postgres also accepts TLS afterwards; its user must own the key. */
async function offerTls(
  db: Postgres,
  of: { certificate: string; key: string; folder: string },
): Promise<void> {
  const key = join(of.folder, 'postgres.key')
  copyFileSync(of.key, key)
  chmodSync(key, 0o600)
  const owner = await postgresOwner()
  if (owner !== undefined) chownSync(key, owner.uid, owner.gid)
  await setPostgres(db, 'ssl_cert_file', of.certificate)
  await setPostgres(db, 'ssl_key_file', key)
  await setPostgres(db, 'ssl', 'on')
}

/** Changes a setting of the whole server, and waits until new connections have it. */
export async function setPostgres(db: Postgres, name: string, value: string): Promise<void> {
  await sql`alter system set ${sql.ref(name)} = ${sql.lit(value)}`.execute(db)
  await sql`select pg_reload_conf()`.execute(db)
  await until(`${name} is ${value}`, async () => {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db)
    return rows[0]?.value === value
  })
}

async function keepRecent(db: Postgres): Promise<void> {
  await db.transaction().execute(async tx => {
    // A standby that is gone may hold up other commits.
    await sql`set local synchronous_commit = off`.execute(tx)
    await sql`
update shard_watermarks set as_of = clock_timestamp()
where topic like 'other-%' and as_of > clock_timestamp() - interval '1 hour'`.execute(tx)
  })
}
