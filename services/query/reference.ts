import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { openApiDocument } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { registerGuides } from './guides/registerGuides.ts'

/**
 * Registers the routes that need no token and do not count against the rate limit: the OpenAPI document, the reference
 * page with Tally's name, logo and icon, which loads nothing from other hosts, and the guides. `contact` is whom the
 * document says clients may ask.
 */
export async function registerReference(app: FastifyInstance, contact: string | undefined): Promise<void> {
  const document = openApiDocument(contact)
  const json = JSON.stringify(document)
  app.get('/api/v1/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(json))

  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without `upgrade-insecure-requests`: the page must also work if the API is served without TLS.
    staticCSP:
      "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'self'",
    uiConfig: {
      url: '/api/v1/openapi.json',
      deepLinking: true,
      tryItOutEnabled: true,
      validatorUrl: null,
    } as never,
    theme: {
      title: 'Tally API',
      favicon: [
        { filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: asset('icon') },
      ],
    },
    logo: { type: 'image/svg+xml', content: asset('logo'), href: '/docs' },
  })
  registerGuides(app)
}

const asset = (name: string): Buffer => readFileSync(new URL(`assets/${name}.svg`, import.meta.url))
