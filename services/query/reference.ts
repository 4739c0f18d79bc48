import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { openApiDocument, type ProblemType, problemTypes } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { RequestProblem } from './http/problems.ts'

/**
 * Registers the routes that need no token and do not count against the rate limit: the OpenAPI document, the reference
 * page with Tally's name, logo and icon, which loads nothing from other hosts, and a help page for each problem.
 */
export async function registerReference(app: FastifyInstance): Promise<void> {
  const document = openApiDocument()
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

  app.get<{ Params: { type: string } }>('/problems/:type', (request, reply) => {
    const { type } = request.params
    if (!Object.hasOwn(problemTypes, type)) throw new RequestProblem('not-found')
    return reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', helpPolicy)
      .send(helpPage(type as ProblemType))
  })
}

const asset = (name: string): Buffer => readFileSync(new URL(`assets/${name}.svg`, import.meta.url))

const style =
  'body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }'
const helpPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'`

function helpPage(type: ProblemType): string {
  const { status, title, help } = problemTypes[type]
  const text = help.replaceAll(/`([^`]+)`/g, '<code>$1</code>')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Tally API</title>
<style>${style}</style>
<h1>${status} ${title}</h1>
<p>${text}</p>
<p><a href="/docs">API reference</a></p>
</html>
`
}
