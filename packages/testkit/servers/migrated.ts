import { randomBytes } from 'node:crypto'
import type { Postgres } from '@tally/platform'
import { migrate, openPostgres } from '@tally/schema'
import { sql } from 'kysely'

/** A database with the schema and the roles of the services; nothing is connected to it, so Postgres can copy it. */
export async function createMigrated(server: string): Promise<{ name: string; drop: () => Promise<void> }> {
  await makeRoles(server)
  const name = `migrated_${randomBytes(8).toString('hex')}`
  await onServer(server, `create database ${name}`)
  const db = openDatabase(addressOf(server, name))
  await migrate(db).finally(() => db.destroy())
  // PgBouncer keeps its connection.
  await onServer(
    server,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  )
  return { name, drop: () => onServer(server, `drop database ${name} with (force)`) }
}

/** Makes the roles of the services on a server, unless another test has. */
export async function makeRoles(server: string): Promise<void> {
  const statements = ['query', 'projector', 'admin'].map(
    service => `begin create role tally_${service} login password 'x';
exception when duplicate_object or unique_violation then end;`,
  )
  await onServer(server, `do $$ begin ${statements.join('\n')} end $$`)
}

export async function onServer(url: string, statement: string): Promise<void> {
  const db = openDatabase(url)
  await sql
    .raw(statement)
    .execute(db)
    .finally(() => db.destroy())
}

export const addressOf = (server: string, database: string): string =>
  Object.assign(new URL(server), { pathname: `/${database}` }).href

export function openDatabase(url: string): Postgres {
  // With more concurrent queries than connections on a busy machine, the last ones wait long.
  const timeouts = { statementTimeoutMs: 30_000, connectTimeoutMs: 30_000 }
  return openPostgres(url, { name: 'test', max: 5, ...timeouts, onError: () => {} })
}
