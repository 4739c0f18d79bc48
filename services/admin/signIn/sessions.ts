import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { rememberedDays } from './devices.ts'
import { newToken, sha256 } from './tokens.ts'

/** The signed-in administrator. */
export type Session = {
  administratorId: string
  organizationId: OrganizationId
  organizationName: string
  email: string
  isPlatform: boolean
}

/** A screen in a hall stays signed in for the days of a festival; an unused session ends overnight. */
const longest = '7 days'
const idle = '12 hours'

const isGood = sql`
session.created_at > now() - ${longest}::interval and session.last_seen_at > now() - ${idle}::interval`

/** Begins a session and returns its token; only its hash is stored. */
export async function beginSession(db: Postgres, administratorId: string): Promise<string> {
  const token = newToken()
  await db
    .insertInto('admin_sessions')
    .values({ session_sha256: sha256(token), administrator_id: administratorId })
    .execute()
  return token
}

/** The session of a token; undefined if there is none or it has ended. Stores once a minute that it is used. */
export async function findSession(db: Postgres, token: string): Promise<Session | undefined> {
  const { rows } = await sql<Session & { isStale: boolean }>`
select
  administrator_id as "administratorId",
  administrator.organization_id as "organizationId",
  organization.name as "organizationName",
  administrator.email,
  administrator.is_platform as "isPlatform",
  session.last_seen_at < now() - interval '1 minute' as "isStale"
from admin_sessions as session
join administrators as administrator using (administrator_id)
join organizations as organization using (organization_id)
where session.session_sha256 = ${sha256(token)} and ${isGood}`.execute(db)
  const [found] = rows
  if (found === undefined) return undefined
  const { isStale, ...session } = found
  if (isStale)
    await sql`update admin_sessions set last_seen_at = now() where session_sha256 = ${sha256(token)}`.execute(
      db,
    )
  return session
}

export async function endSession(db: Postgres, token: string): Promise<void> {
  await db.deleteFrom('admin_sessions').where('session_sha256', '=', sha256(token)).execute()
}

/** Deletes ended sessions, ended windows of attempts and browsers that were not used for long. */
export async function forgetEnded(db: Postgres): Promise<void> {
  await sql`delete from admin_sessions as session where not (${isGood})`.execute(db)
  await sql`delete from sign_in_attempts where ends_at < now()`.execute(db)
  await sql`
delete from known_devices where last_used_at < now() - make_interval(days => ${rememberedDays})`.execute(db)
}
