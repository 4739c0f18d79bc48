import { type Action, actionNames } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import { z } from 'zod'
import { csvLine } from '../http/csv.ts'
import { rowNumber } from '../http/forms.ts'

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

/** A field as the form sends it: an empty one counts as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(value => (value === '' ? undefined : value), schema.optional())
/** Postgres has no year 0. */
const day = z.iso.date().refine(date => date >= '0001')

/**
 * Which entries to list, of which page, and whose: the organization's, or those of the platform team's commands. `who`
 * is a part of the e-mail or account; days are in UTC and inclusive.
 */
export const auditQuery = z.object({
  before: optional(rowNumber),
  who: optional(z.string().regex(/^[^\p{Cc}]{1,254}$/u)),
  action: optional(z.enum(Object.keys(actionNames))),
  from: optional(day),
  until: optional(day),
  of: optional(z.literal('commands')),
})
export type AuditQuery = z.output<typeof auditQuery>
type AuditFilter = Omit<AuditQuery, 'before' | 'of'>

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
  return db
    .selectFrom('audit_entries')
    .select(['audit_id as auditId', 'at', 'email', 'action', 'subject', 'detail', 'address'])
    .where('organization_id', organizationId === null ? 'is' : '=', organizationId)
    .where('audit_id', '<', before ?? Number.MAX_SAFE_INTEGER)
    .$if(who !== undefined, query => query.where(sql<boolean>`strpos(lower(email), lower(${who})) > 0`))
    .$if(action !== undefined, query => query.where('action', '=', action ?? ''))
    .$if(from !== undefined, query => query.where(sql<boolean>`at >= ${from}::date`))
    .$if(until !== undefined, query => query.where(sql<boolean>`at < ${until}::date + 1`))
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
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
