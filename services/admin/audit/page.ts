import { actionNames } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { sendCsv } from '../http/csv.ts'
import { parseOr400 } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { platformSessionOf, sessionOf } from '../signIn/guard.ts'
import { moment } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import { type AuditEntry, type AuditQuery, auditCsv, auditQuery, nameOfAction, readAudit } from './store.ts'

const pageSize = 50

/** The audit trail of the organization; for the platform team also that of the commands. */
export function auditPages(area: FastifyInstance, { db }: AdminDeps): void {
  area.get('/audit', async (request, reply) => {
    const { of, ...asked } = parseOr400(auditQuery, request.query)
    const entries = await readAudit(db, ownerOf(request, of), { ...asked, limit: pageSize + 1 })
    const shown = entries.slice(0, pageSize)
    return sendPage(request, reply, {
      title: 'Audit',
      body: auditView(shown, {
        asked: { ...asked, of },
        hasMore: entries.length > pageSize,
        isPlatform: sessionOf(request).isPlatform,
      }),
    })
  })

  area.get('/audit.csv', async (request, reply) => {
    const { of, before: _, ...filter } = parseOr400(auditQuery, request.query)
    const day = new Date().toISOString().slice(0, 10)
    return sendCsv(reply, `audit-${day}`, auditCsv(db, ownerOf(request, of), filter))
  })
}

/** Whose entries are asked for; those of the commands are the platform team's. */
const ownerOf = (request: FastifyRequest, of: 'commands' | undefined): OrganizationId | null =>
  of === 'commands' && platformSessionOf(request).isPlatform ? null : sessionOf(request).organizationId

type AuditShown = { asked: AuditQuery; hasMore: boolean; isPlatform: boolean }

function auditView(entries: AuditEntry[], { asked, hasMore, isPlatform }: AuditShown): Html {
  return html`<h1>Audit</h1>
<p class="faint">Who did what in this area, when, and from where. Newest first.</p>
${filterForm(asked, isPlatform)}
${entries.length === 0 ? html`<section class="card empty"><p class="big">No entries</p></section>` : table(entries)}
${hasMore ? html`<p><a class="button" href="/audit?${linkOf({ ...asked, before: entries.at(-1)?.auditId })}">Older</a></p>` : ''}`
}

function filterForm(asked: AuditQuery, isPlatform: boolean): Html {
  const { who = '', from = '', until = '' } = asked
  return html`<form method="get" action="/audit" class="filter">
<div><label for="who">Who</label><input id="who" name="who" maxlength="254" value="${who}"></div>
<div><label for="action">What</label><select id="action" name="action"><option value="">Everything</option>
${Object.entries(actionNames).map(([action, name]) => html`<option value="${action}"${attribute('selected', action === asked.action)}>${name}</option>`)}
</select></div>
<div><label for="from">Since (UTC)</label><input id="from" name="from" type="date" value="${from}"></div>
<div><label for="until">Until (UTC)</label><input id="until" name="until" type="date" value="${until}"></div>
${
  isPlatform
    ? html`<div><label for="of">Whose</label><select id="of" name="of">
<option value="">Organization</option><option value="commands"${attribute('selected', asked.of === 'commands')}>Commands of the platform team</option>
</select></div>`
    : ''
}
<button>Show</button>
<a class="button" href="/audit.csv?${linkOf({ ...asked, before: undefined })}">Export CSV</a>
</form>`
}

/** The query string of a filter. */
function linkOf(asked: AuditQuery): string {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given as [string, string][]).toString()
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
<td data-label="What">${nameOfAction(action)}${subject === null ? '' : html` <code>${subject}</code>`}${detail === null ? '' : html`<span class="faint block" dir="auto">${detail}</span>`}</td>
<td data-label="From"><code>${address}</code></td>
</tr>`,
)}
</tbody></table></div>`
}
