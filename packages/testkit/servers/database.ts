import { randomBytes } from 'node:crypto'
import { migrate, openPostgres } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { inject } from 'vitest'

export type TestDatabase = { url: string; db: Postgres; drop: () => Promise<void> }

/** Creates a database with the schema on the run's server, or on another one; `drop` closes and deletes it. */
export async function freshDatabase({
  migrated = true,
  server = inject('servers').databaseUrl,
} = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await makeRoles(server)
  await onServer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const db = open(url.href)
  if (migrated) await migrate(db)
  const drop = async () => {
    await db.destroy()
    await onServer(server, `drop database ${name} with (force)`)
  }
  return { url: url.href, db, drop }
}

/** A service with a database role of its own. */
export type Service = 'query' | 'projector' | 'admin'

/**
 * The address of a database for a service's own role, whose rights `tally migrate` gives (docs/operations.md,
 * Database roles).
 */
export const asRole = (url: string, service: Service): string =>
  Object.assign(new URL(url), { username: `tally_${service}`, password: 'x' }).href

/** Makes the roles of the services on a server, unless another test has. */
export async function makeRoles(server: string): Promise<void> {
  for (const service of ['query', 'projector', 'admin'])
    await onServer(
      server,
      `do $$ begin create role tally_${service} login password 'x';
exception when duplicate_object or unique_violation then end $$`,
    )
}

async function onServer(url: string, statement: string): Promise<void> {
  const db = open(url)
  await sql
    .raw(statement)
    .execute(db)
    .finally(() => db.destroy())
}

function open(url: string): Postgres {
  // With more concurrent queries than connections on a busy machine, the last ones wait long.
  const timeouts = { statementTimeoutMs: 30_000, connectTimeoutMs: 30_000 }
  return openPostgres(url, { name: 'test', max: 5, ...timeouts, onError: () => {} })
}
