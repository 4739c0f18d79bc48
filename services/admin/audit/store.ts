import type { OrganizationId } from '@tally/contract'
import type { Postgres, Tx } from '@tally/storage'

/** The actions that leave an audit entry, with their names on the audit page. */
const actions = {
  'sign-in': 'Signed in',
  'sign-in-oidc': 'Signed in through the OpenID provider',
  'sign-out': 'Signed out',
  'key-created': 'Created an API key',
  'key-revoked': 'Revoked an API key',
  'key-rotated': 'Rotated an API key',
  'letters-replayed': 'Replayed dead letters',
  'offsets-accepted': 'Continued past deleted records',
  'offsets-skipped': 'Skipped records',
} as const
export type Action = keyof typeof actions
export const nameOfAction = (action: string): string => actions[action as Action] ?? action

/** Who acts, and from where. */
export type Actor = { organizationId: OrganizationId; email: string; address: string }
export type AuditEntry = {
  auditId: number
  at: number
  email: string
  action: string
  subject: string | null
  detail: string | null
  address: string
}

/** Writes an audit entry, in the transaction of the action if it has one. */
export async function note(
  db: Postgres | Tx,
  { organizationId, email, address }: Actor,
  { action, subject, detail }: { action: Action; subject?: string; detail?: string },
): Promise<void> {
  await db
    .insertInto('audit_entries')
    .values({
      organization_id: organizationId,
      email,
      address,
      action,
      subject: subject ?? null,
      detail: detail ?? null,
    })
    .execute()
}

/** A page of an organization's entries, newest first; `before` is the last id of the previous page. */
export async function readAudit(
  db: Postgres,
  organizationId: OrganizationId,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<AuditEntry[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('audit_id', '<', before ?? Number.MAX_SAFE_INTEGER)
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(entryOf)
}

/** The latest entries of the platform team's commands, which belong to no organization, newest first. */
export async function readPlatformAudit(db: Postgres, limit: number): Promise<AuditEntry[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', 'is', null)
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(entryOf)
}

type Row = Omit<AuditEntry, 'auditId'> & { audit_id: number; organization_id: string | null }
const entryOf = ({ audit_id, organization_id: _, ...entry }: Row): AuditEntry => ({
  auditId: audit_id,
  ...entry,
})
