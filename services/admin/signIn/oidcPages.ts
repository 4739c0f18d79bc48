import { allowOnce, findByOidc, useToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { PageProblem, tooManyAttempts } from '../http/problem.ts'
import { afterSignIn } from '../secondFactor/wrongCodes.ts'
import { takeAnonymousAttempt } from './attempts.ts'
import { openSession } from './begin.ts'
import { clearCookie, giveCookie, readCookie, sessionToken } from './cookies.ts'
import { ownPath } from './guard.ts'
import { callbackPath, type Oidc, type OidcPending } from './oidc.ts'
import { noteLimited, noteRefused } from './refusals.ts'
import { findSession } from './sessions.ts'

const pendingShape = z.object({
  verifier: z.string(),
  state: z.string(),
  nonce: z.string(),
  next: z.string(),
  isFresh: z.boolean(),
})

const refused = () =>
  new PageProblem(
    403,
    'Access denied',
    'Your account has no verified e-mail address of an administrator. Contact the team that runs Tally.',
  )

const notConfirmed = () =>
  new PageProblem(
    403,
    'Sign-in not confirmed',
    'Your organization’s provider did not confirm that you signed in just now. Go back and try again.',
  )

const someoneElse = () =>
  new PageProblem(
    403,
    'Another account',
    'You signed in as someone else. To switch accounts, sign out first.',
  )

/** Sign-in through an OpenID provider: the redirect to it, and the callback with a code. */
export function oidcPages(app: FastifyInstance, deps: AdminDeps, oidc: Oidc): void {
  const { db, metrics, logger } = deps

  app.get<{ Querystring: { next?: unknown; fresh?: unknown } }>('/sign-in/oidc', async (request, reply) => {
    const exceeded = await takeAnonymousAttempt(db, request.ip)
    if (exceeded !== undefined) {
      await noteLimited(deps, { account: undefined, address: request.ip }, exceeded)
      throw tooManyAttempts(exceeded)
    }
    const { url, pending } = await oidc
      .begin(ownPath(request.query.next), { isFresh: request.query.fresh === 'yes' })
      .catch(error => {
        logger.warn({ err: error }, 'the OpenID provider does not answer')
        throw new PageProblem(
          503,
          'Sign-in provider unavailable',
          'The provider does not answer. Try again, or sign in with your password.',
          5,
        )
      })
    const text = Buffer.from(JSON.stringify(pending)).toString('base64url')
    await allowOnce(db, 'oidc', text)
    giveCookie(request, reply, 'oidc', text, 600)
    return reply.redirect(url, 303)
  })

  app.get(callbackPath, async (request, reply) => {
    const pending = await takePending(db, request, reply)
    if (pending === undefined)
      throw new PageProblem(400, 'This sign-in has expired', 'Go back to the sign-in page and try again.')
    const identity = await oidc.finish(new URL(request.url, 'http://here'), pending).catch(error => {
      logger.warn({ err: error }, 'a sign-in through the OpenID provider failed')
      return undefined
    })
    const administratorId = identity && (await findByOidc(db, identity))
    if (administratorId === undefined) {
      await noteRefused(deps, { account: identity?.address, address: request.ip })
      throw pending.isFresh && identity === undefined ? notConfirmed() : refused()
    }
    if (pending.isFresh && (await isSomeoneElse(request, administratorId))) throw someoneElse()
    await openSession(deps, request, reply, administratorId, {
      action: 'sign-in-oidc',
      oidc: { provenAt: identity?.provenAt },
    })
    metrics.signIns.inc({ outcome: 'signed-in' })
    const own = ownPath(pending.next)
    const next = deps.allowsPasswords && !pending.isFresh ? await afterSignIn(db, administratorId, own) : own
    return reply.redirect(next, 303)
  })

  /** Whether a step-up would replace the session of another administrator, whose page is to be opened next. */
  async function isSomeoneElse(request: FastifyRequest, administratorId: string): Promise<boolean> {
    const token = sessionToken(request)
    const session = token === undefined ? undefined : await findSession(db, token)
    return session !== undefined && session.administratorId !== administratorId
  }
}

/**
 * What the redirect gave the browser. The SHA-256 of the cookie is stored, so that a changed one, one that Tally did
 * not make and one that was used before are refused.
 */
async function takePending(
  db: AdminDeps['db'],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<OidcPending | undefined> {
  const text = readCookie(request, 'oidc')
  clearCookie(request, reply, 'oidc')
  if (text === undefined || !(await useToken(db, 'oidc', text))) return undefined
  return pendingShape.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
}
