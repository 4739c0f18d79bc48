import { counterTables } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'

/** What every service asks for: version of the schema, epoch of the server (migrations/0016-baseline.ts). */
const always = ['kysely_migration', 'epochs', 'revisions']
/** What answers and pages are composed from. */
const answered = [
  'shard_offsets',
  'shard_watermarks',
  'organizations',
  'event_heads',
  'events',
  'orders',
  ...counterTables,
]
const accounts = [
  'administrators',
  'admin_sessions',
  'sign_in_attempts',
  'known_devices',
  'one_time_tokens',
  'passkeys',
  'recovery_codes',
  'screen_links',
]

/** The tables and sequences for each right of a role. */
type Rights = Record<string, string[]>

/**
 * The database roles of the services and what each needs, no more (docs/install.md, Database roles). All else,
 * such as `tally rebuild` and `tally events remove`, is for the owner of the schema.
 */
const roles: Record<string, Rights> = {
  tally_query: {
    select: [...always, ...answered, 'api_keys', 'api_key_deletions'],
    'update (last_used_at)': ['api_keys'],
  },
  tally_projector: {
    'select, insert, update': [...answered, 'refunds', 'partition_logs', 'epochs'],
    'select, update': ['revisions'],
    select: ['kysely_migration', 'removed_events'],
  },
  tally_admin: {
    'select, insert, update, delete': accounts,
    'select, insert, update': ['api_keys', 'replayed_letters'],
    'select, insert': ['audit_entries'],
    select: [...always, ...answered, 'partition_logs', 'rebuilds'],
  },
}

/**
 * Gives the roles of the services that exist on this server their rights. `tally migrate` does so each time, because a
 * new version may have a new table. Takes no right away: processes of the version before may still need it. Concurrent
 * calls wait for each other, because Postgres refuses two grants on one table at once.
 */
export async function grantRoles(db: Postgres): Promise<void> {
  const { rows } = await sql<{ name: string }>`
select rolname as name from pg_roles where rolname = any(${Object.keys(roles)}::text[])`.execute(db)
  if (rows.length === 0) return
  const { rows: schemas } = await sql<{
    schema: string
  }>`select quote_ident(current_schema()) as schema`.execute(db)
  const grants = rows.flatMap(({ name }) => [
    ...schemas.map(({ schema }) => `grant usage on schema ${schema} to ${name};`),
    ...Object.entries(roles[name] as Rights).map(
      ([rights, tables]) => `grant ${rights} on ${tables.join(', ')} to ${name};`,
    ),
  ])
  await db.transaction().execute(async tx => {
    await sql`select pg_advisory_xact_lock(hashtext('tally roles'))`.execute(tx)
    await sql.raw(grants.join('\n')).execute(tx)
  })
}

/**
 * The tables on which the role of this connection lacks a right, by name: if it is a role of the services, or a
 * member of one, of those that the service needs; else all of Tally's that it may not read and write.
 */
export async function forbiddenTables(db: Postgres): Promise<string[]> {
  const needed = await neededRights(db)
  const { rows } = await (needed.length === 0 ? forbiddenToOther() : forbiddenToService(needed)).execute(db)
  return rows.map(({ name }) => name)
}

const forbiddenToService = (needed: Needed[]) => sql<{ name: string }>`
select distinct relname as name
from pg_class join unnest(
  ${needed.map(({ table }) => table)}::text[],
  ${needed.map(({ right }) => right)}::text[]
) as needed (name, privilege) on needed.name = relname
where relnamespace = current_schema()::regnamespace and not case
  when privilege = 'delete' then has_table_privilege(oid, privilege)
  else has_any_column_privilege(oid, privilege)
end
order by relname`

const forbiddenToOther = () => sql<{ name: string }>`
select relname as name from pg_class
where relkind = 'r' and relnamespace = current_schema()::regnamespace and relowner = (${owner})
  and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert'))
order by name`

type Needed = { table: string; right: string }

const owner = sql`select relowner from pg_class where oid = to_regclass('kysely_migration')`

/** What the service needs whose role, or a member of it, this connection has; nothing for the owner or another role. */
async function neededRights(db: Postgres): Promise<Needed[]> {
  const { rows } = await sql<{ name: string }>`
select rolname as name from pg_roles
where rolname = any(${Object.keys(roles)}::text[]) and pg_has_role(oid, 'usage')
  and not pg_has_role((${owner}), 'usage')`.execute(db)
  return rows.flatMap(({ name }) =>
    Object.entries(roles[name] as Rights).flatMap(([rights, tables]) =>
      tables.flatMap(table => rights.split(', ').map(right => ({ table, right: right.replace(/ .*/, '') }))),
    ),
  )
}
