import type { OrganizationId } from '@tally/contract'
import type { Database, Postgres, Tx } from '@tally/platform'
import { type Selectable, sql } from 'kysely'
import { z } from 'zod'
import { refusalIfUnknown } from '../knownOrganization.ts'
import { issueToken, newToken, type TokenOwner } from './tokens.ts'

/** A person who may sign in. An administrator belongs to one organization and sees no other. */
export type Administrator = {
  administratorId: string
  organizationId: OrganizationId
  email: string
  /** Whether they may also open the operations page, which covers all organizations. */
  isPlatform: boolean
  hasSecondFactor: boolean
  createdAt: number
}

/** A change that is not possible; the message is shown to the user. */
export class AdministratorError extends Error {
  override readonly name = 'AdministratorError'
}

/** An e-mail address as it is stored: in lower case. */
export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, 'must have at most 254 characters')
  .pipe(z.email('must be an e-mail address'))

export type NewAdministrator = Pick<Administrator, 'organizationId' | 'email' | 'isPlatform'> & {
  passwordHash: string
}

/** Creates an administrator. Throws AdministratorError if the organization is unknown or the e-mail is taken. */
export async function createAdministrator(db: Postgres, wanted: NewAdministrator): Promise<Administrator> {
  const { organizationId } = wanted
  const refusal = await refusalIfUnknown(db, organizationId)
  if (refusal !== undefined) throw new AdministratorError(refusal)
  const row = await db
    .insertInto('administrators')
    .values({
      organization_id: organizationId,
      email: wanted.email,
      password_hash: wanted.passwordHash,
      is_platform: wanted.isPlatform,
      oidc_subject: null,
    })
    .onConflict(conflict => conflict.column('email').doNothing())
    .returningAll()
    .returning(hasPasskey)
    .executeTakeFirst()
  if (row === undefined) throw new AdministratorError(`${wanted.email} is already an administrator`)
  return fromRow(row)
}

/** Whether an administrator of a statement has a passkey. */
const hasPasskey = sql<boolean>`exists (
  select from passkeys where passkeys.administrator_id = administrators.administrator_id
)`.as('has_passkey')

function fromRow(row: Selectable<Database['administrators']> & { has_passkey: boolean }): Administrator {
  return {
    administratorId: row.administrator_id,
    organizationId: row.organization_id as OrganizationId,
    email: row.email,
    isPlatform: row.is_platform,
    hasSecondFactor: row.totp_secret !== null || row.has_passkey,
    createdAt: row.created_at,
  }
}

/** All administrators, or those of one organization, by organization and e-mail. */
export async function listAdministrators(
  db: Postgres,
  organizationId?: OrganizationId,
): Promise<Administrator[]> {
  const rows = await db
    .selectFrom('administrators')
    .selectAll()
    .select(hasPasskey)
    .$if(organizationId !== undefined, query => query.where('organization_id', '=', organizationId ?? ''))
    .orderBy('organization_id')
    .orderBy('email')
    .execute()
  return rows.map(fromRow)
}

/** The ids of those people who have never signed in or set a password. */
export async function newcomersAmong(db: Postgres, people: { administratorId: string }[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
select administrator_id as id from administrators as administrator
where administrator_id = any(${people.map(one => one.administratorId)}) and not exists (
  select from audit_entries as entry
  where entry.organization_id = administrator.organization_id and entry.email = administrator.email and at >= created_at
    and action in ('sign-in', 'sign-in-oidc', 'sign-in-recovery', 'password-changed', 'password-reset')
)`.execute(db)
  return rows.map(({ id }) => id)
}

/** Removes an administrator, ends their sessions, and returns who it was. Throws AdministratorError if unknown. */
export async function removeAdministrator(db: Postgres, address: string): Promise<Administrator> {
  const row = await db
    .deleteFrom('administrators')
    .where('email', '=', address)
    .returningAll()
    .returning(hasPasskey)
    .executeTakeFirst()
  if (row === undefined) throw new AdministratorError(`${address} is not an administrator`)
  return fromRow(row)
}

export type Credentials = Pick<Administrator, 'administratorId' | 'organizationId'> & { passwordHash: string }

/** What a password is checked against; undefined if the e-mail is unknown. */
export async function findCredentials(db: Postgres, address: string): Promise<Credentials | undefined> {
  const { rows } = await sql<Credentials>`
select administrator_id as "administratorId", organization_id as "organizationId", password_hash as "passwordHash"
from administrators where email = ${address}`.execute(db)
  return rows[0]
}

/** Whether a password that was checked is still the account's; until the transaction ends, no other replaces it. */
export async function isStillPassword(tx: Tx, checked: Credentials): Promise<boolean> {
  const { rows } = await sql`
select from administrators
where administrator_id = ${checked.administratorId} and password_hash = ${checked.passwordHash}
for share`.execute(tx)
  return rows.length === 1
}

/**
 * Stores a new password, and ends the administrator's sessions, known browsers, open links, and a second factor that is
 * being set up: who knew the old password may have seen its secret.
 */
export async function setPassword(tx: Tx, administratorId: string, passwordHash: string): Promise<void> {
  await tx
    .updateTable('administrators')
    .set({ password_hash: passwordHash, totp_candidate: null })
    .where('administrator_id', '=', administratorId)
    .execute()
  for (const table of ['admin_sessions', 'known_devices', 'one_time_tokens'] as const)
    await tx.deleteFrom(table).where('administrator_id', '=', administratorId).execute()
}

/** Removes the second factor of an administrator: the app, all passkeys, and the recovery codes. */
export async function removeSecondFactor(tx: Tx, administratorId: string): Promise<void> {
  await tx
    .updateTable('administrators')
    .set({ totp_secret: null, totp_candidate: null })
    .where('administrator_id', '=', administratorId)
    .execute()
  for (const table of ['passkeys', 'recovery_codes'] as const)
    await tx.deleteFrom(table).where('administrator_id', '=', administratorId).execute()
}

/** Lets an administrator set up a second factor for at least 30 minutes, if one is required. */
export async function allowEnrolment(tx: Tx, administratorId: string): Promise<void> {
  await sql`
update administrators set enrol_until = greatest(enrol_until, now() + interval '30 minutes')
where administrator_id = ${administratorId}`.execute(tx)
}

/**
 * Makes a link's token for a new password; one made before ends. When it is used, it may also remove the second
 * factor: not before, because someone who knows only the password could come first. Throws AdministratorError if the
 * e-mail is unknown.
 */
export async function beginReset(
  tx: Tx,
  address: string,
  { removesSecondFactor = false } = {},
): Promise<{ token: string; organizationId: OrganizationId }> {
  const found = await findCredentials(tx, address)
  if (found === undefined) throw new AdministratorError(`${address} is not an administrator`)
  const { administratorId, organizationId } = found
  const token = newToken()
  await sql`
delete from one_time_tokens where administrator_id = ${administratorId} and purpose = 'reset'`.execute(tx)
  await issueToken(tx, { purpose: 'reset', token, administratorId, removesSecondFactor })
  return { token, organizationId }
}

/** Sets the password of a reset link's owner, who may then set up a second factor (docs/security.md, Sign-in). */
export async function finishReset(
  tx: Tx,
  { administratorId, removesSecondFactor }: TokenOwner,
  passwordHash: string,
): Promise<void> {
  await setPassword(tx, administratorId, passwordHash)
  if (removesSecondFactor) await removeSecondFactor(tx, administratorId)
  await allowEnrolment(tx, administratorId)
}

/**
 * The administrator that an OpenID provider names: by e-mail, and after the first sign-in also by `subject`, so that
 * the next owner of an e-mail address does not become that administrator.
 */
export async function findByOidc(
  db: Postgres,
  { address, subject }: { address: string; subject: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
update administrators
set oidc_subject = ${subject}
where email = ${address} and (oidc_subject is null or oidc_subject = ${subject})
returning administrator_id as id`.execute(db)
  return rows[0]?.id
}
