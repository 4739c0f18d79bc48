import type { OrganizationId } from '@tally/contract'
import type { Postgres, Tx } from '@tally/storage'
import { sql } from 'kysely'

/** The actions that leave an audit entry. */
export type Action =
  | 'sign-in'
  | 'sign-in-oidc'
  | 'sign-out'
  | 'signed-out-everywhere'
  | 'password-changed'
  | 'password-reset'
  | 'key-created'
  | 'key-revoked'
  | 'key-rotated'
  | 'letters-replayed'
  | 'offsets-accepted'
  | 'offsets-skipped'

/** What was done, to what. */
export type Noted = { action: Action; subject?: string | null; detail?: string | null }

/** Who acts, and from where. */
export type Actor = { organizationId: OrganizationId; email: string; address: string }

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

/** As note, for an administrator who is not signed in. */
export async function noteOf(
  db: Postgres | Tx,
  administratorId: string,
  { address }: { address: string },
  { action, subject = null, detail = null }: Noted,
): Promise<void> {
  await sql`
insert into audit_entries (organization_id, email, address, action, subject, detail)
select organization_id, email, ${address}, ${action}, ${subject}, ${detail}
from administrators where administrator_id = ${administratorId}`.execute(db)
}
