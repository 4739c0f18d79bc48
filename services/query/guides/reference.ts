import { openApiDocument } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { once } from './once.ts'
import { sendPage } from './page.ts'
import { referenceBody } from './referenceBody.ts'
import { registerGuides } from './registerGuides.ts'

/**
 * Registers the routes that need no token and do not count against the rate limit: the OpenAPI document, the reference
 * page made from it, and the guides. `contact` is whom the document says clients may ask.
 *
 * The document and the page are made when they are first asked for: they take 0.1 s, a sixth of what a process takes to
 * be ready.
 */
export function registerReference(app: FastifyInstance, contact: string | undefined): void {
  const json = once(() => JSON.stringify(openApiDocument(contact)))
  const body = once(() => referenceBody(JSON.parse(json())))
  app.get('/api/v1/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(json()))
  for (const path of ['/docs', '/docs/'])
    app.get(path, (_, reply) => sendPage(reply, { title: 'Reference', body: body(), layout: 'reference' }))
  registerGuides(app)
}
