import { findByOidc } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import { openSession } from './begin.ts'
import { ownPath } from './guard.ts'
import { callbackPath, type Oidc, type OidcPending } from './oidc.ts'
import { noteRefused } from './refusals.ts'

const cookieName = 'tally_oidc'
const pendingShape = z.object({
  verifier: z.string(),
  state: z.string(),
  nonce: z.string(),
  next: z.string(),
})

const refused = () =>
  new PageProblem(
    403,
    'Access denied',
    'Your account has no verified e-mail address of an administrator. Contact the team that runs Tally.',
  )

/** Sign-in through an OpenID provider: the redirect to it, and the callback with a code. */
export function oidcPages(app: FastifyInstance, deps: AdminDeps, oidc: Oidc): void {
  const { db, metrics, logger } = deps

  app.get<{ Querystring: { next?: unknown } }>('/sign-in/oidc', async (request, reply) => {
    const { url, pending } = await oidc.begin(ownPath(request.query.next)).catch(error => {
      logger.warn({ err: error }, 'the OpenID provider does not answer')
      throw new PageProblem(
        503,
        'Sign-in provider unavailable',
        'The provider does not answer. Try again, or sign in with your password.',
        5,
      )
    })
    reply.setCookie(
      cookieName,
      Buffer.from(JSON.stringify(pending)).toString('base64url'),
      attributes(request),
    )
    return reply.header('Cache-Control', 'no-store').redirect(url, 303)
  })

  app.get(callbackPath, async (request, reply) => {
    const pending = takePending(request, reply)
    if (pending === undefined)
      throw new PageProblem(400, 'This sign-in has expired', 'Go back to the sign-in page and try again.')
    const identity = await oidc.finish(new URL(request.url, 'http://here'), pending).catch(error => {
      logger.warn({ err: error }, 'a sign-in through the OpenID provider failed')
      return undefined
    })
    const administratorId = identity && (await findByOidc(db, identity))
    if (administratorId === undefined) {
      await noteRefused(deps, { account: identity?.address, address: request.ip })
      throw refused()
    }
    await openSession(deps, request, reply, administratorId, 'sign-in-oidc')
    metrics.signIns.inc({ outcome: 'signed-in' })
    return reply.header('Cache-Control', 'no-store').redirect(ownPath(pending.next), 303)
  })
}

/** `lax`, because the callback is a navigation from the provider's site. */
const attributes = ({ isSecure }: FastifyRequest) =>
  ({ path: '/sign-in/oidc', httpOnly: true, sameSite: 'lax', secure: isSecure, maxAge: 600 }) as const

/** What the redirect stored; it can be used once. */
function takePending(request: FastifyRequest, reply: FastifyReply): OidcPending | undefined {
  const text = request.cookies[cookieName]
  reply.clearCookie(cookieName, attributes(request))
  if (text === undefined) return undefined
  try {
    return pendingShape.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}
