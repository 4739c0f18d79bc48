import type { Action } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/storage'

/** The actions by their names on the audit page. */
const names: Record<Action, string> = {
  'sign-in': 'Signed in',
  'sign-in-oidc': 'Signed in through the OpenID provider',
  'sign-out': 'Signed out',
  'signed-out-everywhere': 'Signed out everywhere',
  'password-changed': 'Changed the password',
  'password-reset': 'Set a new password by a reset link',
  'key-created': 'Created an API key',
  'key-revoked': 'Revoked an API key',
  'key-rotated': 'Rotated an API key',
  'letters-replayed': 'Replayed dead letters',
  'offsets-accepted': 'Continued past deleted records',
  'offsets-skipped': 'Skipped records',
}
export const nameOfAction = (action: string): string => names[action as Action] ?? action

export type AuditEntry = {
  auditId: number
  at: number
  email: string
  action: string
  subject: string | null
  detail: string | null
  address: string
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
