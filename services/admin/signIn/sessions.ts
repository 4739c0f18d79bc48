import { forgetTokens, newToken, sha256 } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'
import { rememberedDays } from './devices.ts'

/** The signed-in administrator. */
export type Session = {
  sessionId: number
  administratorId: string
  organizationId: OrganizationId
  organizationName: string
  email: string
  isPlatform: boolean
  /** Whether they proved who they are within the last 30 minutes. */
  isRecent: boolean
  /** An app or a passkey. */
  hasSecondFactor: boolean
  hasApp: boolean
  hasPasskey: boolean
  /** Whether they proved the second factor in this session within the last 30 minutes. */
  isFactorRecent: boolean
  /** Whether they may set up a second factor if it is required: for a while after a proof other than the password. */
  mayEnrol: boolean
  /** Whether they signed in through the OpenID provider. */
  isOidc: boolean
}

/** OWASP ASVS 3.3.2. A screen in a hall has a link of its own (services/admin/screens). */
const longest = '12 hours'
const idle = '30 minutes'

const isGood = sql`
session.created_at > now() - ${longest}::interval and session.last_seen_at > now() - ${idle}::interval`

/** Where a session was begun, for the list of sessions. */
type Origin = { address: string; browser: string }

/** When someone proved to the OpenID provider who they are, in epoch seconds; undefined if it does not say. */
export type OidcProof = { provenAt: number | undefined }

/** Where a session begins, and what its administrator proved: to the provider, or with the second factor. */
type Begun = Origin & { oidc?: OidcProof | undefined; isFactorProven?: boolean | undefined }

/** Begins a session and returns its token; only its hash is stored. Without `oidc` it is confirmed now. */
export async function beginSession(
  db: Postgres,
  administratorId: string,
  from: Begun = { address: '', browser: '' },
): Promise<string> {
  const token = newToken()
  const { address, browser, oidc, isFactorProven = false } = from
  // The provider's clock may be ahead.
  const confirmedAt = oidc === undefined ? sql`now()` : sql`least(to_timestamp(${oidc.provenAt ?? 0}), now())`
  await sql`
insert into admin_sessions (session_sha256, administrator_id, address, browser, is_oidc, confirmed_at, factor_at)
values (
  ${sha256(token)}, ${administratorId}, ${address}, ${browser}, ${oidc !== undefined}, ${confirmedAt},
  ${isFactorProven ? sql`now()` : null}
)`.execute(db)
  return token
}

/** The session of a token; undefined if there is none or it has ended. Stores once a minute that it is used. */
export async function findSession(db: Postgres, token: string): Promise<Session | undefined> {
  const { rows } = await sql<Omit<Session, 'hasSecondFactor'> & { isStale: boolean }>`
select
  session.session_id as "sessionId",
  administrator_id as "administratorId",
  administrator.organization_id as "organizationId",
  organization.name as "organizationName",
  administrator.email,
  administrator.is_platform as "isPlatform",
  administrator.totp_secret is not null as "hasApp",
  exists (
    select from passkeys where passkeys.administrator_id = administrator.administrator_id
  ) as "hasPasskey",
  coalesce(session.factor_at > now() - interval '30 minutes', false) as "isFactorRecent",
  coalesce(administrator.enrol_until > now(), false) as "mayEnrol",
  session.is_oidc as "isOidc",
  session.confirmed_at > now() - interval '30 minutes' as "isRecent",
  session.last_seen_at < now() - interval '1 minute' as "isStale"
from admin_sessions as session
join administrators as administrator using (administrator_id)
join organizations as organization using (organization_id)
where session.session_sha256 = ${sha256(token)} and ${isGood}`.execute(db)
  const [found] = rows
  if (found === undefined) return undefined
  const { isStale, ...session } = found
  if (isStale)
    await sql`
update admin_sessions set last_seen_at = now() where session_id = ${session.sessionId}`.execute(db)
  return { ...session, hasSecondFactor: session.hasApp || session.hasPasskey }
}

export async function endSession(db: Postgres, token: string): Promise<void> {
  await db.deleteFrom('admin_sessions').where('session_sha256', '=', sha256(token)).execute()
}

/** Notes that who is signed in has just proved who they are, with the second factor or without. */
export async function confirmSession(
  db: Postgres | Tx,
  { sessionId }: Session,
  { isFactor }: { isFactor: boolean },
): Promise<void> {
  await sql`
update admin_sessions set confirmed_at = now(), factor_at = ${isFactor ? sql`now()` : sql`factor_at`}
where session_id = ${sessionId}`.execute(db)
}

/** A session in the list of an administrator's own. */
export type ListedSession = Origin & { sessionId: number; createdAt: number; lastSeenAt: number }

/** An administrator's sessions, the latest first. */
export async function listSessions(db: Postgres, administratorId: string): Promise<ListedSession[]> {
  const { rows } = await sql<ListedSession>`
select session_id as "sessionId", address, browser, created_at as "createdAt", last_seen_at as "lastSeenAt"
from admin_sessions as session
where administrator_id = ${administratorId} and ${isGood}
order by last_seen_at desc`.execute(db)
  return rows
}

/** Ends one session of an administrator; returns whether they had it. */
export async function endOneSession(
  db: Postgres | Tx,
  administratorId: string,
  sessionId: number,
): Promise<boolean> {
  const { rows } = await sql`
delete from admin_sessions where administrator_id = ${administratorId} and session_id = ${sessionId}
returning 1`.execute(db)
  return rows.length === 1
}

/** Ends all sessions of an administrator. */
export async function endSessions(db: Postgres, administratorId: string): Promise<void> {
  await db.deleteFrom('admin_sessions').where('administrator_id', '=', administratorId).execute()
}

/** Deletes what has ended: sessions, links, windows of attempts, and browsers that were not used for long. */
export async function forgetEnded(db: Postgres): Promise<void> {
  await sql`delete from admin_sessions as session where not (${isGood})`.execute(db)
  await forgetTokens(db)
  await sql`delete from screen_links where ends_at < now()`.execute(db)
  await sql`delete from sign_in_attempts where ends_at < now()`.execute(db)
  await sql`
delete from known_devices where last_used_at < now() - make_interval(days => ${rememberedDays})`.execute(db)
}
