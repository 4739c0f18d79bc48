import type { OrganizationId } from '@tally/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { sendCsv } from '../http/csv.ts'
import { parseOr400, rowNumber } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { platformSessionOf, sessionOf } from '../signIn/guard.ts'
import { actionNames, auditCsv, readAudit } from './store.ts'
import { auditView } from './view.ts'

const pageSize = 50
/** A filter as the form sends it: an empty field counts as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(value => (value === '' ? undefined : value), schema.optional())
/** Postgres has no year 0. */
const day = z.iso.date().refine(date => date >= '0001')
const query = z.object({
  before: optional(rowNumber),
  who: optional(z.string().regex(/^[^\p{Cc}]{1,254}$/u)),
  action: optional(z.enum(Object.keys(actionNames))),
  from: optional(day),
  until: optional(day),
  of: optional(z.literal('commands')),
})

/** The audit trail of the organization; for the platform team also that of the commands. */
export function auditPages(area: FastifyInstance, { db }: AdminDeps): void {
  area.get('/audit', async (request, reply) => {
    const { of, ...asked } = parseOr400(query, request.query)
    const entries = await readAudit(db, ownerOf(request, of), { ...asked, limit: pageSize + 1 })
    const shown = entries.slice(0, pageSize)
    return sendPage(request, reply, {
      title: 'Audit',
      section: 'audit',
      body: auditView(shown, {
        asked: { ...asked, of },
        hasMore: entries.length > pageSize,
        isPlatform: sessionOf(request).isPlatform,
      }),
    })
  })

  area.get('/audit.csv', async (request, reply) => {
    const { of, before: _, ...filter } = parseOr400(query, request.query)
    return sendCsv(reply, 'audit', auditCsv(db, ownerOf(request, of), filter))
  })
}

/** Whose entries are asked for; those of the commands are the platform team's. */
const ownerOf = (request: FastifyRequest, of: 'commands' | undefined): OrganizationId | null =>
  of === 'commands' && platformSessionOf(request).isPlatform ? null : sessionOf(request).organizationId
