import { openApiDocument } from '@tally/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest, LightMyRequestResponse } from 'fastify'
import { registerGuides } from './guides/registerGuides.ts'
import { splitTarget } from './http/encoding.ts'
import { matchesEtag } from './http/etag.ts'

/** Of the connection, not of the page: fastify sets them for each answer. */
const ofConnection = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'])

/**
 * Registers the routes that need no token and do not count against the rate limit: the OpenAPI document, the reference
 * page with Tally's name, logo and icon, and the guides. `contact` is whom the document says clients may ask.
 *
 * The document and the page are made when they are first asked for: they take 0.1 s, a sixth of what a process takes to
 * be ready. The page is an app of its own because fastify takes no routes once it listens.
 */
export function registerReference(app: FastifyInstance, contact: string | undefined): void {
  const document = once(() => openApiDocument(contact))
  const json = once(() => JSON.stringify(document()))
  const page = once(async () => (await import('./referencePage.ts')).buildReferencePage(document()))

  app.get('/api/v1/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(json()))
  // The files that were found, by their path: about ten, the largest of 1.5 MB, which need not be copied again.
  const files = new Map<string, Promise<LightMyRequestResponse>>()
  const fileOf = (path: string): Promise<LightMyRequestResponse> => {
    const known = files.get(path)
    if (known !== undefined) return known
    const found = find(path)
    files.set(path, found)
    return found
  }
  const find = async (path: string): Promise<LightMyRequestResponse> => {
    try {
      const file = await (await page()).inject({ url: path })
      if (file.statusCode !== 200) files.delete(path)
      return file
    } catch (error) {
      files.delete(path)
      throw error
    }
  }
  const answer = async ({ url, headers }: FastifyRequest, reply: FastifyReply) => {
    const file = await fileOf(splitTarget(url).path)
    if (file.statusCode === 404) return reply.callNotFound()
    for (const [name, value] of Object.entries(file.headers))
      if (!ofConnection.has(name)) reply.header(name, value)
    const { statusCode, rawPayload } = file
    const { etag } = file.headers
    if (etag !== undefined && matchesEtag(headers['if-none-match'] ?? '', etag)) return reply.code(304).send()
    return reply.code(statusCode).send(rawPayload.length === 0 ? undefined : rawPayload)
  }
  app.get('/docs', answer)
  app.get('/docs/*', answer)
  registerGuides(app)
}

function once<Result>(make: () => Result): () => Result {
  let made: { result: Result } | undefined
  return () => {
    made ??= { result: make() }
    return made.result
  }
}
