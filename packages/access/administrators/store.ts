import type { OrganizationId } from '@tally/contract'
import type { Database, Postgres } from '@tally/storage'
import { type Selectable, sql } from 'kysely'
import { z } from 'zod'

/** Who may sign in; an administrator belongs to one organization and sees nothing of another. */
export type Administrator = {
  administratorId: string
  organizationId: OrganizationId
  email: string
  /** Whether the operations page, which is about all organizations, is open to them too. */
  isPlatform: boolean
  createdAt: number
}

/** What cannot be done with an administrator; the message is a sentence for the one who asked. */
export class AdministratorError extends Error {
  override readonly name = 'AdministratorError'
}

/** An e-mail address as it is kept: in lower case. */
export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, 'must have at most 254 characters')
  .pipe(z.email('must be an e-mail address'))

export type NewAdministrator = Pick<Administrator, 'organizationId' | 'email' | 'isPlatform'> & {
  passwordHash: string
}

/** Makes an administrator. Throws AdministratorError for an unknown organization or an e-mail that is taken. */
export async function createAdministrator(db: Postgres, wanted: NewAdministrator): Promise<Administrator> {
  const { organizationId } = wanted
  const known = await db
    .selectFrom('organizations')
    .select('organization_id')
    .where('organization_id', '=', organizationId)
    .where('version', '>', 0)
    .executeTakeFirst()
  if (known === undefined)
    throw new AdministratorError(
      `organization ${organizationId} is not known yet: its record has to come over Kafka first`,
    )
  const row = await db
    .insertInto('administrators')
    .values({
      organization_id: organizationId,
      email: wanted.email,
      password_hash: wanted.passwordHash,
      is_platform: wanted.isPlatform,
      oidc_subject: null,
    })
    .onConflict(of => of.column('email').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw new AdministratorError(`${wanted.email} is an administrator already`)
  return fromRow(row)
}

function fromRow(row: Selectable<Database['administrators']>): Administrator {
  return {
    administratorId: row.administrator_id,
    organizationId: row.organization_id as OrganizationId,
    email: row.email,
    isPlatform: row.is_platform,
    createdAt: row.created_at,
  }
}

/** All administrators, or those of one organization, by organization and e-mail. */
export async function listAdministrators(
  db: Postgres,
  organizationId?: OrganizationId,
): Promise<Administrator[]> {
  const all = db.selectFrom('administrators').selectAll().orderBy('organization_id').orderBy('email')
  const rows = await (organizationId === undefined
    ? all
    : all.where('organization_id', '=', organizationId)
  ).execute()
  return rows.map(fromRow)
}

/** Removes an administrator, whose sessions end with it. Throws AdministratorError where nobody has this e-mail. */
export async function removeAdministrator(db: Postgres, address: string): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('administrators')
    .where('email', '=', address)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new AdministratorError(`${address} is no administrator`)
}

/** What a password is checked against; undefined where nobody has this e-mail. */
export async function findCredentials(
  db: Postgres,
  address: string,
): Promise<{ administratorId: string; passwordHash: string } | undefined> {
  const row = await db
    .selectFrom('administrators')
    .select(['administrator_id', 'password_hash'])
    .where('email', '=', address)
    .executeTakeFirst()
  return row && { administratorId: row.administrator_id, passwordHash: row.password_hash }
}

/**
 * The administrator that an OpenID provider names: by e-mail, and from the first time on by `subject` too, so that
 * who gets an e-mail address after somebody else does not become that administrator.
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
