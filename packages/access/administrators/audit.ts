import { hostname, userInfo } from 'node:os'
import type { OrganizationId } from '@tally/contract'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'

/** The actions that leave an audit entry, by their names on the audit page. */
export const actionNames = {
  'sign-in': 'Signed in',
  'sign-in-oidc': 'Signed in through the OpenID provider',
  'sign-in-recovery': 'Signed in with a recovery code',
  'sign-in-passkey': 'Signed in with a passkey',
  'sign-in-refused': 'Sign-in refused',
  'sign-in-limited': 'Too many sign-in attempts',
  'code-refused': 'Wrong code of the second factor',
  'sign-out': 'Signed out',
  'session-ended': 'Ended a session',
  'signed-out-everywhere': 'Signed out everywhere',
  'second-factor-added': 'Turned the second factor on',
  'second-factor-removed': 'Turned the second factor off',
  'passkey-added': 'Added a passkey',
  'passkey-removed': 'Removed a passkey',
  'password-changed': 'Changed the password',
  'password-reset': 'Set a password by a link',
  'reset-link-made': 'Made a reset link',
  'administrator-created': 'Created an administrator',
  'administrator-removed': 'Removed an administrator',
  'key-created': 'Created an API key',
  'key-revoked': 'Revoked an API key',
  'key-rotated': 'Rotated an API key',
  'screen-created': 'Created a screen link',
  'screen-revoked': 'Revoked a screen link',
  'replay-begun': 'Began to replay dead letters',
  'letters-replayed': 'Replayed dead letters',
  'replay-failed': 'A replay of dead letters failed',
  'rebuild-begun': 'Began a rebuild',
  'rebuild-finished': 'Finished a rebuild',
  'rebuild-failed': 'A rebuild failed',
  'offsets-accepted': 'Continued past deleted records',
  'offsets-skipped': 'Skipped records',
  'event-removed': 'Removed an event',
} as const
export type Action = keyof typeof actionNames

/** What was done, to what. */
export type Noted = { action: Action; subject?: string | null; detail?: string | null }

/** Who acts, and from where; without an organization it is the platform team. */
export type Actor = { organizationId: OrganizationId | null; email: string; address: string }

/** Who runs a command: the account and the host. */
export const commandActor = (organizationId: OrganizationId | null = null): Actor => ({
  organizationId,
  email: accountName(),
  address: hostname(),
})

/** A container may run as a user without a name. */
function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Writes an audit entry, in the transaction of the action if it has one. */
export async function note(
  db: Postgres | Tx,
  { organizationId, email, address }: Actor,
  { action, subject = null, detail = null }: Noted,
): Promise<void> {
  await db
    .insertInto('audit_entries')
    .values({ organization_id: organizationId, email, address, action, subject, detail })
    .execute()
}

/** As note, for an administrator who is not signed in; returns their id, undefined if the e-mail is unknown. */
export async function noteOf(
  db: Postgres | Tx,
  { email, address }: { email: string; address: string },
  { action, detail = null }: Noted,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
with administrator as (
  select administrator_id, organization_id, email from administrators where email = ${email}
), entry as (
  insert into audit_entries (organization_id, email, address, action, detail)
  select organization_id, email, ${address}, ${action}, ${detail} from administrator
)
select administrator_id as id from administrator`.execute(db)
  return rows[0]?.id
}

const ends = {
  replay: { begun: 'replay-begun', done: 'letters-replayed', failed: 'replay-failed' },
  rebuild: { begun: 'rebuild-begun', done: 'rebuild-finished', failed: 'rebuild-failed' },
} as const

/** Leaves an entry before long work and another one after it, also if it fails. */
export async function noteBothEnds<Result>(
  db: Postgres,
  actor: Actor,
  long: {
    work: keyof typeof ends
    /** What it works on. */
    of: string
    run: () => Promise<Result>
    /** What came of it. */
    outcome: (result: Result) => string
  },
): Promise<Result> {
  const { begun, done, failed } = ends[long.work]
  await note(db, actor, { action: begun, detail: long.of })
  let result: Result
  try {
    result = await long.run()
  } catch (error) {
    // Without Postgres the error says more than the missing entry.
    await note(db, actor, { action: failed, detail: long.of }).catch(() => undefined)
    throw error
  }
  await note(db, actor, { action: done, detail: long.outcome(result) })
  return result
}
