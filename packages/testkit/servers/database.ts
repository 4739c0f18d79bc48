import { randomBytes } from 'node:crypto'
import type { Postgres } from '@tally/platform'
import { migrate, openPostgres } from '@tally/schema'
import { sql } from 'kysely'
import { afterAll, inject } from 'vitest'
import { until } from '../until.ts'
import { addressOf, makeRoles, onServer, openDatabase } from './migrated.ts'

export type TestDatabase = { url: string; db: Postgres; drop: () => Promise<void> }

/** A database with the schema, on the run's server (a copy of its migrated one) or on another; `drop` deletes it. */
export async function freshDatabase({
  migrated = true,
  server = inject('servers').databaseUrl,
} = {}): Promise<TestDatabase> {
  const run = inject('servers')
  const isCopied = migrated && server === run.databaseUrl
  const name = `test_${randomBytes(8).toString('hex')}`
  if (!isCopied) await makeRoles(server)
  await onServer(server, `create database ${name}${isCopied ? ` template ${run.migratedDatabase}` : ''}`)
  const url = addressOf(server, name)
  const db = openDatabase(url)
  if (migrated && !isCopied) await migrate(db)
  const drop = async () => {
    await db.destroy()
    await onServer(server, `drop database ${name} with (force)`)
  }
  return { url, db, drop }
}

/** The same for all tests of a file, deleted after them. Call it at the top level of the file. */
export async function databaseOfFile(
  options: Parameters<typeof freshDatabase>[0] = {},
): Promise<TestDatabase> {
  const database = await freshDatabase(options)
  afterAll(database.drop)
  return database
}

/** A Postgres that does not answer. */
export function noPostgres(): Postgres {
  const options = { name: 'test', max: 1, statementTimeoutMs: 500, onError: () => {} }
  return openPostgres('postgres://nobody@127.0.0.1:1/x', options)
}

/** Resolves when so many statements wait for a lock in this database. */
export const untilLocked = (db: Postgres, count: number): Promise<void> =>
  until(`${count} statements wait for a lock`, async () => {
    const { rows } = await sql`
select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    return rows.length === count
  })

/** A service with a database role of its own. */
export type Service = 'query' | 'projector' | 'admin'

/** A database's address for a service's own role, whose rights `tally migrate` gives (install.md, Database roles). */
export const asRole = (url: string, service: Service): string =>
  Object.assign(new URL(url), { username: `tally_${service}`, password: 'x' }).href
