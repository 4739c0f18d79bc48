import { type ApiKey, findKeyOf, keyIdShape, listActiveKeys, listEndedKeys } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { parseOr400 } from '../http/forms.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sessionOf } from '../signIn/guard.ts'
import { readKeyDay } from '../usage/read.ts'
import { moment } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import { keyView } from './detailView.ts'
import { eventName, namedEventsOf } from './events.ts'
import { endOf, scopeNames, stateBadge } from './state.ts'

/** Ended keys on one page. */
const pageSize = 50
const keyId = z.string().regex(keyIdShape).optional()
const asked = z.object({ before: keyId, revoked: keyId })

export function listPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, apiUrl } = deps
  area.get('/keys', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const { before, revoked } = parseOr400(asked, request.query)
    const [usable, ended, events, key] = await Promise.all([
      listActiveKeys(db, organizationId),
      listEndedKeys(db, organizationId, { before, limit: pageSize + 1 }),
      namedEventsOf(db, request),
      revoked === undefined ? undefined : findKeyOf(db, organizationId, revoked),
    ])
    const shown = ended.slice(0, pageSize)
    const older = ended.length > pageSize ? shown.at(-1)?.keyId : undefined
    return sendPage(request, reply, {
      title: 'API keys',
      notice: key?.revokedAt
        ? html`“<bdi>${key.name}</bdi>” is revoked: it is refused everywhere within a second.`
        : undefined,
      body: keysView({ usable, ended: shown, older, isOpen: before !== undefined }, events),
    })
  })

  area.get<{ Params: { keyId: string } }>('/keys/:keyId', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const key = await keyOr404(db, organizationId, request.params.keyId)
    const [events, day] = await Promise.all([namedEventsOf(db, request), readKeyDay(deps, key)])
    return sendPage(request, reply, {
      title: key.name,
      script: 'buttons.js',
      body: keyView(key, { events, day, apiUrl, format: formatOf(request) }),
    })
  })
}

/** A key of the organization; the same 404 if it does not exist or is another organization's. */
export async function keyOr404(db: Postgres, organizationId: OrganizationId, keyId: string): Promise<ApiKey> {
  const key = keyIdShape.test(keyId) ? await findKeyOf(db, organizationId, keyId) : undefined
  if (key === undefined) throw notFound()
  return key
}

/** `ended` is one page of those that are revoked or expired, and `older` the key with which the next page goes on. */
type Shown = { usable: ApiKey[]; ended: ApiKey[]; older: string | undefined; isOpen: boolean }

/** The list of keys: active ones first, the others collapsed. */
function keysView({ usable, ended, older, isOpen }: Shown, events: ListedEvent[]): Html {
  return html`<div class="heading">
<div><h1>API keys</h1>
<p class="faint">Devices and dashboards read your figures with a key. A key can only read what you choose for it.</p></div>
<a class="button primary" href="/keys/new">New key</a>
</div>
${usable.length === 0 ? noKeys(ended.length > 0) : table(usable, events, 'Active keys')}
${ended.length === 0 ? '' : html`<details class="over"${attribute('open', isOpen)}><summary>Revoked and expired</summary>${table(ended, events, 'Revoked and expired keys')}${older === undefined ? '' : html`<p><a class="button" href="/keys?before=${older}">Older</a></p>`}</details>`}`
}

function noKeys(hadSome: boolean): Html {
  return html`<section class="card empty">
<p class="big">${hadSome ? 'No active keys' : 'No keys yet'}</p>
<p class="faint">Create one for each device, bound to its event. If a device is lost, you revoke only its key.</p>
<a class="button primary" href="/keys/new">Create ${hadSome ? 'a new' : 'the first'} key</a>
</section>`
}

function table(keys: ApiKey[], events: ListedEvent[], caption: string): Html {
  return html`<div class="card table"><table>
<caption class="hidden">${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Scopes</th><th scope="col">Event</th><th scope="col">Created</th><th scope="col">Ends</th><th scope="col">Last used</th><th scope="col">State</th></tr></thead>
<tbody>
${keys.map(
  key => html`<tr>
<th scope="row" data-label="Name"><a href="/keys/${key.keyId}"><bdi>${key.name}</bdi></a><code class="faint">${key.keyId}</code></th>
<td data-label="Scopes">${key.scopes.map(scope => html`<span class="scope" title="${scope}">${scopeNames[scope]}</span> `)}</td>
<td data-label="Event">${key.eventId === null ? html`<span class="faint">All events</span>` : html`<bdi>${eventName(events, key.eventId)}</bdi>`}</td>
<td data-label="Created">${moment(key.createdAt)}</td>
<td data-label="Ends">${endOf(key)}</td>
<td data-label="Last used">${moment(key.lastUsedAt)}</td>
<td data-label="State">${stateBadge(key)}</td>
</tr>`,
)}
</tbody></table></div>`
}
