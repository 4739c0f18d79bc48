import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { type FastifyInstance, fastify } from 'fastify'

/** Builds the reference page under `/docs` as an app that does not listen; it loads nothing from other hosts. */
export async function buildReferencePage(document: object): Promise<FastifyInstance> {
  const app = fastify({ logger: false })
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
  return app
}

const asset = (name: string): Buffer => readFileSync(new URL(`assets/${name}.svg`, import.meta.url))
