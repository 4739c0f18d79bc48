import type { Postgres } from '@tally/platform'
import { asRole, databaseOfFile, type Service } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from './database.ts'
import { migrate } from './migrate.ts'
import { forbiddenTables } from './roles.ts'

const services: Service[] = ['query', 'projector', 'admin']
const owner = await databaseOfFile()
const as = Object.fromEntries(services.map(service => [service, open(service)])) as Record<Service, Postgres>

function open(service: Service): Postgres {
  const options = { name: 'test', max: 1, statementTimeoutMs: 30_000, onlyReads: true, onError: () => {} }
  return openPostgres(asRole(owner.url, service), options)
}

beforeAll(async () => {
  await sql`
insert into api_keys (key_id, secret_sha256, organization_id, name, scopes, created_at)
values ('k', '', gen_random_uuid(), 'till', '{}', now())`.execute(owner.db)
})
afterAll(async () => {
  for (const db of Object.values(as)) await db.destroy()
})

async function expectRefused(service: Service, statement: string): Promise<void> {
  const run = sql.raw(statement).execute(as[service])
  await expect(run, `${service}: ${statement}`).rejects.toThrow(/permission denied|must be (owner|superuser)/)
}

/** The tables and sequences on which a service's role has a right. */
async function tablesWith(service: Service, right: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
select relname as name from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'S')
  and has_table_privilege(${`tally_${service}`}, oid, ${right})
order by relname`.execute(owner.db)
  return rows.map(({ name }) => name)
}

const accounts = ['admin_sessions', 'administrators', 'audit_entries', 'known_devices', 'one_time_tokens']

test('the query process writes nothing but when a key was used, and reads no account', async () => {
  for (const right of ['insert', 'update', 'delete', 'truncate', 'trigger', 'references'])
    expect(await tablesWith('query', right), right).toEqual([])
  for (const table of [...accounts, 'sign_in_attempts', 'recovery_codes', 'screen_links'])
    await expectRefused('query', `select from ${table}`)
  for (const statement of [
    'select password_hash from administrators',
    "insert into admin_sessions (session_sha256, administrator_id) values ('', gen_random_uuid())",
    "update api_keys set scopes = '{orders:read}'",
    'update api_keys set revoked_at = null',
    "update api_keys set last_used_at = now(), secret_sha256 = ''",
    "select setval('revisions', 9)",
    'select open_epoch(9, 9223372036854775806)',
  ])
    await expectRefused('query', statement)
  const { numAffectedRows } = await sql`update api_keys set last_used_at = now()`.execute(as.query)
  expect(numAffectedRows).toBe(1n)
})

test('the projector sees no account and no key, and the area changes no figure', async () => {
  for (const table of [...accounts, 'api_keys']) await expectRefused('projector', `select from ${table}`)
  expect(await tablesWith('projector', 'delete')).toEqual([])
  for (const right of ['insert', 'update', 'delete'])
    expect(await tablesWith('admin', right)).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/counters|event|orders|offsets|organizations|revisions/),
      ]),
    )
  await expectRefused('admin', 'delete from api_keys')
})

test.each(services)('as %s, an audit entry stays, and so does its trigger', async service => {
  for (const statement of [
    'drop trigger audit_entries_are_final on audit_entries',
    'drop function refuse_audit_change() cascade',
    'create or replace function refuse_audit_change() returns trigger language plpgsql as $$ begin return null; end $$',
    'alter table audit_entries disable trigger all',
    "set session_replication_role = 'replica'",
    'drop table audit_entries',
    'update audit_entries set detail = null',
    'delete from audit_entries',
    'truncate audit_entries',
    'create table mine ()',
    'create schema mine',
  ])
    await expectRefused(service, statement)
})

test('every table is for a service, or for the owner alone', async () => {
  const { rows } = await sql<{ name: string }>`
select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(owner.db)
  const used = new Set((await Promise.all(services.map(service => tablesWith(service, 'select')))).flat())
  expect(rows.map(({ name }) => name).filter(name => !used.has(name))).toEqual(['kysely_migration_lock'])
})

test('tally migrate gives a right that a role lacks, and names the tables until then', async () => {
  await sql`revoke select on orders, events from tally_query`.execute(owner.db)
  expect(await forbiddenTables(as.query, 'query')).toEqual(['events', 'orders'])
  await Promise.all([migrate(owner.db), migrate(owner.db)])
  for (const service of services) expect(await forbiddenTables(as[service], service)).toEqual([])
})
