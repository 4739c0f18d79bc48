import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { migrate, openPostgres } from '@tally/schema'
import { runTally } from '@tally/testkit/processes/process'
import { freshDatabase } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { programPath } from '#infra/install/programs.ts'

// A database of an earlier Tally: all of it is the superuser's.
const old = await freshDatabase()
const ownerUrl = Object.assign(new URL(old.url), { username: 'tally_owner', password: 'x' }).href
afterAll(() => old.drop())

/** Runs roles.sql as the service `roles` of Compose does; the passwords are those that all tests use. */
async function runRoles(): Promise<void> {
  const psql = await programPath({
    names: ['psql'],
    debianPackage: 'postgresql-client',
    neededBy: 'the tests of Compose',
  })
  const names = ['OWNER', 'QUERY', 'PROJECTOR', 'ADMIN'].map(role => [`POSTGRES_${role}_PASSWORD`, 'x'])
  const args = ['-q', '-f', join(import.meta.dirname, 'roles.sql'), old.url]
  execFileSync(psql, args, { env: { ...process.env, ...Object.fromEntries(names) }, stdio: 'pipe' })
}

const ownedBySuperuser = async (): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
select relname as name from pg_class where relnamespace = 'public'::regnamespace and relowner = current_user::regrole
union all
select proname from pg_proc where pronamespace = 'public'::regnamespace and proowner = current_user::regrole
union all
select typname from pg_type where typnamespace = 'public'::regnamespace and typowner = current_user::regrole`.execute(
    old.db,
  )
  return rows.map(({ name }) => name)
}

test('a database of an earlier Tally passes to an owner who is not a superuser, and may do all that an owner must', async () => {
  expect(await ownedBySuperuser()).toContain('audit_entries')
  await runRoles()
  await runRoles()
  expect(await ownedBySuperuser()).toEqual([])
  const db = openPostgres(ownerUrl, { name: 'test', max: 2, statementTimeoutMs: 30_000, onError: () => {} })
  try {
    const { rows } = await sql<{ isSuper: boolean; sees: boolean }>`
select rolsuper or rolcreaterole or rolcreatedb as "isSuper", pg_has_role(current_user, 'pg_execute_server_program', 'usage') as sees
from pg_roles where rolname = current_user`.execute(db)
    expect(rows).toEqual([{ isSuper: false, sees: false }])
    await sql`revoke select on orders from tally_query`.execute(db)
    await migrate(db)
    const { rows: again } =
      await sql`select has_table_privilege('tally_query', 'orders', 'select') as may`.execute(db)
    expect(again).toEqual([{ may: true }])
    await sql`create index orders_of_a_later_migration on orders (event_id)`.execute(db)
    await sql`create schema tally_rebuild`.execute(db)
  } finally {
    await db.destroy()
  }
  await runRoles()
  const { rows } = await sql`select to_regnamespace('tally_rebuild') is not null as kept`.execute(old.db)
  expect(rows).toEqual([{ kept: true }])
  expect(await runTally(['migrate'], { DATABASE_URL: ownerUrl })).toMatchObject({ code: 0 })
})
