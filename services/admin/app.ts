import { randomUUID } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { bareRefusals, secure, serverOptions } from '@tally/platform'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import helmet from 'helmet'
import { accountPages } from './account/pages.ts'
import { auditPages } from './audit/page.ts'
import { dayPages } from './day/pages.ts'
import type { AdminDeps } from './deps.ts'
import { assetFiles } from './http/assets.ts'
import { limitDownloads } from './http/downloads.ts'
import { registerErrors } from './http/errors.ts'
import { checkFormTokens } from './http/forms.ts'
import { checkSameOrigin, isOwnSignOut, plainAddress, watchProxies } from './http/origin.ts'
import { keyPages } from './keys/index.ts'
import { livePages } from './live/pages.ts'
import { openStreams } from './live/stream.ts'
import { operationsPages } from './operations/pages.ts'
import { passkeyPages } from './passkeys/pages.ts'
import { screenLinkPages } from './screens/linkPages.ts'
import { screenPages } from './screens/screenPages.ts'
import { wrongCodesPage } from './secondFactor/checkCode.ts'
import { secondFactorPages } from './secondFactor/pages.ts'
import { codePages } from './signIn/codePages.ts'
import { confirmPages } from './signIn/confirmPages.ts'
import { askToSignIn, requireSession } from './signIn/guard.ts'
import { oidcPages } from './signIn/oidcPages.ts'
import { signInPages } from './signIn/pages.ts'
import { resetPages } from './signIn/resetPages.ts'
import type { Session } from './signIn/sessions.ts'
import { usagePages } from './usage/page.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The URL of the API, whose guides each page links. */
    apiUrl: string
  }
  interface FastifyRequest {
    /** Who is signed in; always set on pages of the area. */
    session: Session | undefined
    /** Whether the browser uses TLS: then cookies are for TLS only. */
    isSecure: boolean
    /** The area's address in the browser; null if the client, which is not a browser, names a host that is none. */
    publicUrl: URL | null
  }
}

/** Everything comes from this origin; no inline scripts or styles. */
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

/** The headers that helmet sets, the same on every answer: to make them for each took an eighth of a page's time. */
function securityHeaders(): Map<string, string> {
  const answer = new ServerResponse(new IncomingMessage(new Socket()))
  const setHeaders = helmet({
    contentSecurityPolicy,
    // With `no-referrer` the Origin of a form would be `null`.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: { includeSubDomains: false },
  })
  setHeaders(answer.req, answer, error => {
    if (error) throw error
  })
  return new Map(answer.getHeaderNames().map(name => [name, String(answer.getHeader(name))]))
}

/** Builds the administration area as a fastify app that is not listening yet; it opens nothing itself. */
export async function buildAdmin(deps: AdminDeps): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : deps.trustedProxies,
    ...serverOptions,
    ...bareRefusals,
    bodyLimit: 16_384,
    keepAliveTimeout: deps.idleTimeoutMs,
  }) as unknown as FastifyInstance

  secure(app, deps)
  app.decorateRequest('session', undefined)
  app.decorateRequest('isSecure', false)
  app.decorateRequest('publicUrl', null)
  app.decorate('apiUrl', deps.apiUrl)
  registerErrors(app)
  // First, because error pages read cookies and need the headers too.
  await app.register(cookie)
  const headers = securityHeaders()
  app.addHook('onRequest', (_, reply, done) => {
    reply.raw.setHeaders(headers)
    done()
  })
  const checkProxy = watchProxies(deps.logger)
  app.addHook('onRequest', async request => {
    request.isSecure = request.protocol === 'https' || deps.publicUrl?.startsWith('https:') === true
    request.publicUrl = URL.parse(deps.publicUrl ?? `${request.protocol}://${request.host}`)
    checkProxy(request)
    Object.defineProperty(request, 'ip', { value: plainAddress(request.ip) })
    checkSameOrigin(request)
  })
  app.addHook('onResponse', (_, reply, done) => {
    deps.metrics.requests.inc({ status: String(reply.statusCode) })
    done()
  })
  await checkFormTokens(app)
  // Nothing but forms: anything else is a 415.
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: 16_384 })
  assetFiles(app)
  // After the body is read, which holds the token.
  app.addHook('preHandler', (request, reply, done) =>
    request.method === 'POST' && !isOwnSignOut(request) ? app.csrfProtection(request, reply, done) : done(),
  )

  const streams = openStreams(deps)
  app.addHook('preClose', async () => streams.close())
  await app.register(async open => {
    screenPages(open, deps, streams)
    signInPages(open, deps)
    if (deps.allowsPasswords) for (const pages of [codePages, resetPages]) pages(open, deps)
    if (deps.oidc !== undefined) oidcPages(open, deps, deps.oidc)
  })
  await app.register(async area => {
    area.addHook('onRequest', requireSession(deps))
    area.addHook('preHandler', askToSignIn)
    limitDownloads(area)
    livePages(area, deps, streams)
    for (const pages of [
      dayPages,
      keyPages,
      usagePages,
      auditPages,
      operationsPages,
      accountPages,
      screenLinkPages,
      confirmPages,
    ])
      pages(area, deps)
    if (deps.allowsPasswords)
      for (const pages of [secondFactorPages, passkeyPages, wrongCodesPage]) pages(area, deps)
  })
  return app
}
