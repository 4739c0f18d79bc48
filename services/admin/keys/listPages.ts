import { type ApiKey, findKeyOf, keyIdShape, listKeys } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/storage'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sessionOf } from '../signIn/guard.ts'
import { keyView } from './detailView.ts'
import { eventsOf } from './events.ts'
import { keysView } from './listView.ts'

const notices: Record<string, string> = {
  revoked: 'Key revoked. It is refused everywhere within a second.',
}

export function listPages(area: FastifyInstance, { db }: AdminDeps): void {
  area.get<{ Querystring: { done?: string } }>('/keys', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const [keys, events] = await Promise.all([listKeys(db, organizationId), eventsOf(db, organizationId)])
    return sendPage(request, reply, {
      title: 'API keys',
      section: 'keys',
      notice: Object.hasOwn(notices, String(request.query.done))
        ? notices[String(request.query.done)]
        : undefined,
      body: keysView(keys.toReversed(), events),
    })
  })

  area.get<{ Params: { keyId: string } }>('/keys/:keyId', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const key = await keyOr404(db, organizationId, request.params.keyId)
    const events = await eventsOf(db, organizationId)
    return sendPage(request, reply, { title: key.name, section: 'keys', body: keyView(key, events) })
  })
}

/** A key of the organization; the same 404 if it does not exist or is another organization's. */
export async function keyOr404(db: Postgres, organizationId: OrganizationId, keyId: string): Promise<ApiKey> {
  const key = keyIdShape.test(keyId) ? await findKeyOf(db, organizationId, keyId) : undefined
  if (key === undefined) throw notFound()
  return key
}
