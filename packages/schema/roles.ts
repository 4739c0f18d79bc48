import { counterTables } from '@tally/figures'
import { FatalError, type Postgres, type ProcessName } from '@tally/platform'
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
 * What each service needs, no more, and its role `tally_…` is given (docs/install.md, Database roles). All else,
 * such as `tally rebuild` and `tally events remove`, is for the owner of the schema.
 */
const roles: Record<ProcessName, Rights> = {
  query: {
    select: [...always, ...answered, 'api_keys', 'api_key_deletions'],
    'update (last_used_at)': ['api_keys'],
  },
  projector: {
    'select, insert, update': [...answered, 'refunds', 'partition_logs', 'epochs'],
    'select, update': ['revisions'],
    select: ['kysely_migration', 'removed_events'],
  },
  admin: {
    'select, insert, update, delete': accounts,
    'select, insert, update': ['api_keys', 'replayed_letters'],
    'select, insert': ['audit_entries'],
    select: [...always, ...answered, 'partition_logs', 'rebuilds'],
  },
}

export const serviceNames = Object.keys(roles) as ProcessName[]

/**
 * Gives the roles of the services that exist on this server their rights. `tally migrate` does so each time, because a
 * new version may have a new table. Takes no right away: processes of the version before may still need it. Concurrent
 * calls wait for each other, because Postgres refuses two grants on one table at once.
 */
export async function grantRoles(db: Postgres): Promise<void> {
  const { rows } = await sql<{ name: ProcessName }>`
select name from unnest(${serviceNames}::text[]) as name where to_regrole('tally_' || name) is not null`.execute(
    db,
  )
  if (rows.length === 0) return
  const { rows: schemas } = await sql<{
    schema: string
  }>`select quote_ident(current_schema()) as schema`.execute(db)
  const grants = rows.flatMap(({ name }) => [
    ...schemas.map(({ schema }) => `grant usage on schema ${schema} to tally_${name};`),
    ...Object.entries(roles[name]).map(
      ([rights, tables]) => `grant ${rights} on ${tables.join(', ')} to tally_${name};`,
    ),
  ])
  await db.transaction().execute(async tx => {
    await sql`select pg_advisory_xact_lock(hashtext('tally roles'))`.execute(tx)
    await sql.raw(grants.join('\n')).execute(tx)
  })
}

/** Throws a FatalError that names the tables if the role of this connection lacks a right that the service needs. */
export async function checkRights(db: Postgres, service: ProcessName): Promise<void> {
  const forbidden = await forbiddenTables(db, service)
  if (forbidden.length > 0)
    throw new FatalError(
      `this database role lacks rights that \`tally ${service}\` needs on ${forbidden.join(', ')}: connect as ` +
        `tally_${service} or a member of it; \`tally migrate\` grants it the rights (docs/install.md, Database roles)`,
    )
}

/** The tables, by name, on which the role of this connection lacks a right that the service needs. */
export async function forbiddenTables(db: Postgres, service: ProcessName): Promise<string[]> {
  const needed = Object.entries(roles[service]).flatMap(([rights, tables]) =>
    tables.flatMap(table => rights.split(', ').map(right => ({ table, right: right.replace(/ .*/, '') }))),
  )
  const { rows } = await sql<{ name: string }>`
select distinct relname as name
from pg_class join unnest(
  ${needed.map(({ table }) => table)}::text[],
  ${needed.map(({ right }) => right)}::text[]
) as needed (name, privilege) on needed.name = relname
where relnamespace = quote_ident(current_schema())::regnamespace and not case
  when privilege = 'delete' then has_table_privilege(oid, privilege)
  else has_any_column_privilege(oid, privilege)
end
order by relname`.execute(db)
  return rows.map(({ name }) => name)
}
