import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import files from '@fastify/static'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import { auditPages } from './audit/page.ts'
import { registerErrors } from './http/errors.ts'
import { checkSameOrigin } from './http/sameOrigin.ts'
import { keyPages } from './keys/index.ts'
import { livePages } from './live/pages.ts'
import { operationsPages } from './operations/pages.ts'
import type { AdminParts } from './parts.ts'
import { requireSession } from './signIn/guard.ts'
import { oidcPages } from './signIn/oidcPages.ts'
import { signInPages } from './signIn/pages.ts'
import type { Session } from './signIn/sessions.ts'
import { usagePages } from './usage/page.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; on pages of the area always somebody. */
    session: Session | undefined
    /** Whether the browser came over TLS: then cookies are for TLS only. */
    isSecure: boolean
  }
}

/** Everything comes from here and nothing from elsewhere; no script and no style stands inside a page. */
const contentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
}

/** Builds the administration area as a fastify app that is not listening yet; it opens nothing by itself. */
export async function buildAdmin(parts: AdminParts): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: parts.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: parts.trustedProxies.length === 0 ? false : parts.trustedProxies,
    // Node's default limit for headers is 60 s, and it checks connections only every 30 s.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    bodyLimit: 16_384,
    connectionTimeout: 60_000,
    requestTimeout: 10_000,
  }) as unknown as FastifyInstance

  app.decorateRequest('session', undefined)
  app.decorateRequest('isSecure', false)
  registerErrors(app)
  // First: the page of an error reads cookies too.
  await app.register(cookie)
  app.addHook('onRequest', async request => {
    request.isSecure = request.protocol === 'https' || parts.publicUrl?.startsWith('https:') === true
    checkSameOrigin(request)
  })
  app.addHook('onResponse', (_, reply, done) => {
    parts.metrics.requests.inc({ status: String(reply.statusCode) })
    done()
  })
  await app.register(helmet, {
    contentSecurityPolicy,
    // None at all would make a form's origin `null`.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: { includeSubDomains: false },
  })
  await app.register(csrf, {
    cookieKey: 'tally_csrf',
    cookieOpts: { path: '/', sameSite: 'lax', httpOnly: true },
    getToken: request => (request.body as { _csrf?: string } | undefined)?._csrf,
  })
  await app.register(formbody, { bodyLimit: 16_384 })
  await app.register(files, { root: `${import.meta.dirname}/assets`, prefix: '/assets/' })
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot'))
  await app.register(files, { root: uplot, prefix: '/assets/uplot/', decorateReply: false })
  // After the body is read, which has the token.
  app.addHook('preHandler', (request, reply, done) =>
    request.method === 'POST' ? app.csrfProtection(request, reply, done) : done(),
  )

  await app.register(async open => {
    signInPages(open, parts)
    if (parts.oidc !== undefined) oidcPages(open, parts, parts.oidc)
  })
  await app.register(async area => {
    area.addHook('onRequest', requireSession(parts))
    for (const pages of [livePages, keyPages, usagePages, auditPages, operationsPages]) pages(area, parts)
  })
  return app
}
