import { type Action, actionNames } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import { csvLine } from '../http/csv.ts'

export const nameOfAction = (action: string): string => actionNames[action as Action] ?? action

export type AuditEntry = {
  auditId: number
  at: number
  email: string
  action: string
  subject: string | null
  detail: string | null
  address: string
}

/** Which entries to list; days are in UTC and inclusive. */
export type AuditFilter = {
  /** Part of the e-mail or account. */
  who?: string | undefined
  action?: string | undefined
  from?: string | undefined
  until?: string | undefined
}

/** A filter with the page to show, and whose entries: the organization's, or those of the platform team's commands. */
export type AuditQuery = AuditFilter & { before?: number | undefined; of?: 'commands' | undefined }

/**
 * A page of an organization's entries, newest first; `before` is the last id of the previous page. Without an
 * organization, the entries of the platform team's commands.
 */
export async function readAudit(
  db: Postgres,
  organizationId: OrganizationId | null,
  { before, limit, ...filter }: AuditFilter & { before?: number | undefined; limit: number },
): Promise<AuditEntry[]> {
  const { who, action, from, until } = filter
  const rows = await db
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', organizationId === null ? 'is' : '=', organizationId)
    .where('audit_id', '<', before ?? Number.MAX_SAFE_INTEGER)
    .$if(who !== undefined, query => query.where(sql<boolean>`strpos(lower(email), lower(${who})) > 0`))
    .$if(action !== undefined, query => query.where('action', '=', action ?? ''))
    .$if(from !== undefined, query => query.where(sql<boolean>`at >= ${from}::date`))
    .$if(until !== undefined, query => query.where(sql<boolean>`at < ${until}::date + 1`))
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(entryOf)
}

const csvPage = 1_000

/** All entries of a filter as CSV (RFC 4180), newest first, in pieces. */
export async function* auditCsv(
  db: Postgres,
  organizationId: OrganizationId | null,
  filter: AuditFilter,
): AsyncGenerator<string> {
  yield csvLine(['at', 'who', 'action', 'what', 'subject', 'detail', 'from'])
  let before: number | undefined
  do {
    const entries = await readAudit(db, organizationId, { ...filter, before, limit: csvPage })
    yield entries
      .map(({ at, email, action, subject, detail, address }) => {
        const who = [new Date(at).toISOString(), email]
        return csvLine([...who, action, nameOfAction(action), subject ?? '', detail ?? '', address])
      })
      .join('')
    before = entries.length < csvPage ? undefined : entries.at(-1)?.auditId
  } while (before !== undefined)
}

type Row = Omit<AuditEntry, 'auditId'> & { audit_id: number; organization_id: string | null }
const entryOf = ({ audit_id, organization_id: _, ...entry }: Row): AuditEntry => ({
  auditId: audit_id,
  ...entry,
})
