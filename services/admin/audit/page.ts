import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { parseOr400 } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { sessionOf } from '../signIn/guard.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { type AuditEntry, nameOfAction, readAudit } from './store.ts'

const pageSize = 50
const query = z.object({
  before: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number)
    .optional(),
})

export function auditPages(area: FastifyInstance, { db }: AdminDeps): void {
  area.get('/audit', async (request, reply) => {
    const { before } = parseOr400(query, request.query)
    const { organizationId } = sessionOf(request)
    const entries = await readAudit(db, organizationId, { before, limit: pageSize + 1 })
    return sendPage(request, reply, {
      title: 'Audit',
      section: 'audit',
      body: auditView(entries.slice(0, pageSize), entries.length > pageSize),
    })
  })
}

function auditView(entries: AuditEntry[], hasMore: boolean): Html {
  return html`<h1>Audit</h1>
<p class="faint">Who did what in this area, when, and from where. Newest first.</p>
${entries.length === 0 ? html`<section class="card empty"><p class="big">No entries</p></section>` : table(entries)}
${hasMore ? html`<p><a class="button" href="/audit?before=${entries.at(-1)?.auditId}">Older</a></p>` : ''}`
}

function table(entries: AuditEntry[]): Html {
  return html`<div class="card table"><table>
<caption class="hidden">Audit entries</caption>
<thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">From</th></tr></thead>
<tbody>
${entries.map(
  ({ at, email, action, subject, detail, address }) => html`<tr>
<td data-label="When">${moment(at)}</td>
<td data-label="Who">${email}</td>
<td data-label="What">${nameOfAction(action)}${subject === null ? '' : html` <code>${subject}</code>`}${detail === null ? '' : html`<span class="faint block">${detail}</span>`}</td>
<td data-label="From"><code>${address}</code></td>
</tr>`,
)}
</tbody></table></div>`
}
