import { type ApiKey, findKeyOf, keyIdShape, listActiveKeys, listEndedKeys } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
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
import { keyView } from './detailView.ts'
import { namedEventsOf } from './events.ts'
import { keysView } from './listView.ts'

/** Ended keys on one page. */
const pageSize = 50
const asked = z.object({ before: z.string().regex(keyIdShape).optional() })

const notices: Record<string, string> = {
  revoked: 'Key revoked. It is refused everywhere within a second.',
}

export function listPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, apiUrl } = deps
  area.get<{ Querystring: { done?: string } }>('/keys', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const { before } = parseOr400(asked, request.query)
    const [usable, ended, events] = await Promise.all([
      listActiveKeys(db, organizationId),
      listEndedKeys(db, organizationId, { before, limit: pageSize + 1 }),
      namedEventsOf(db, organizationId, formatOf(request)),
    ])
    const shown = ended.slice(0, pageSize)
    const older = ended.length > pageSize ? shown.at(-1)?.keyId : undefined
    return sendPage(request, reply, {
      title: 'API keys',
      section: 'keys',
      notice: Object.hasOwn(notices, String(request.query.done))
        ? notices[String(request.query.done)]
        : undefined,
      body: keysView({ usable, ended: shown, older, isOpen: before !== undefined }, events),
    })
  })

  area.get<{ Params: { keyId: string } }>('/keys/:keyId', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const key = await keyOr404(db, organizationId, request.params.keyId)
    const format = formatOf(request)
    const [events, day] = await Promise.all([
      namedEventsOf(db, organizationId, format),
      readKeyDay(deps, key),
    ])
    return sendPage(request, reply, {
      title: key.name,
      section: 'keys',
      script: 'copy.js',
      body: keyView(key, { events, day, apiUrl, format }),
    })
  })
}

/** A key of the organization; the same 404 if it does not exist or is another organization's. */
export async function keyOr404(db: Postgres, organizationId: OrganizationId, keyId: string): Promise<ApiKey> {
  const key = keyIdShape.test(keyId) ? await findKeyOf(db, organizationId, keyId) : undefined
  if (key === undefined) throw notFound()
  return key
}
