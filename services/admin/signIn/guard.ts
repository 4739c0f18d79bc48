import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { notFound } from '../http/problem.ts'
import { isStream, overEvent } from '../live/serverSentEvent.ts'
import { sessionToken } from './cookies.ts'
import { formAgain, signInAgain } from './formAgain.ts'
import { openRecall } from './recall.ts'
import type { Session } from './sessions.ts'

/** The pages that someone without a required second factor may open: those that set it up. */
const duringSetUp = /^\/(account\/(second-factor|passkeys)|confirm)(\?|$)/

/** What the platform team may open while Postgres, which has the sessions, does not answer. */
const duringOutage = /^\/operations(\/runbook)?(\?|$)/

/** Passes signed-in users; redirects others to the sign-in, which leads back to the requested page. */
export function requireSession({ db, requiresSecondFactor }: AdminDeps) {
  const sessionIn = openRecall()
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const token = sessionToken(request)
    const mayRecall = request.method === 'GET' && duringOutage.test(request.url)
    request.session = token === undefined ? undefined : await sessionIn(db, token, mayRecall)
    if (request.session !== undefined) {
      const { hasSecondFactor, isOidc } = request.session
      // Through the provider, its own rules for a second factor hold.
      const lacksFactor = requiresSecondFactor && !hasSecondFactor && !isOidc
      if (!lacksFactor || duringSetUp.test(request.url)) return
      return reply.redirect('/account/second-factor', 303)
    }
    if (isStream(request)) return reply.type('text/event-stream').send(overEvent)
    const isPage = request.method === 'GET' && !request.url.includes('/stream')
    // Once its body is read (askToSignIn).
    if (request.method === 'POST') return
    if (!isPage)
      return reply
        .code(request.method === 'GET' ? 401 : 303)
        .header('Location', '/sign-in')
        .send()
    const ended = token === undefined ? '' : 'ended=yes&'
    return reply.redirect(`/sign-in?${ended}next=${encodeURIComponent(request.url)}`, 303)
  }
}

/** Leads who sends a form without a session to the sign-in, and from there back to the form with its fields. */
export async function askToSignIn(request: FastifyRequest, reply: FastifyReply) {
  if (request.session === undefined) return reply.redirect(signInAgain(request), 303)
}

/** Passes who proved who they are within 30 minutes; asks others first, and leads back to the form's page. */
export async function requireRecent(request: FastifyRequest, reply: FastifyReply) {
  if (sessionOf(request).isRecent) return
  return reply.redirect(`/confirm?next=${encodeURIComponent(pageOf(request))}`, 303)
}

/**
 * As requireRecent; who has a second factor must have proved that one: with the password alone, nobody adds or removes
 * another.
 */
export async function requireFactor(request: FastifyRequest, reply: FastifyReply) {
  const { hasSecondFactor, isFactorRecent } = sessionOf(request)
  if (!hasSecondFactor) return requireRecent(request, reply)
  if (!isFactorRecent)
    return reply.redirect(`/confirm?factor=yes&next=${encodeURIComponent(pageOf(request))}`, 303)
}

const pageOf = (request: FastifyRequest): string =>
  request.method === 'POST' ? formAgain(request) : request.url

/** Who is signed in, on a page behind the guard. */
export function sessionOf({ session }: FastifyRequest): Session {
  if (session === undefined) throw new Error('a page of the area was reached without a session')
  return session
}

/** As sessionOf, for pages of the platform team; a 404 for others. */
export function platformSessionOf(request: FastifyRequest): Session {
  const session = sessionOf(request)
  if (!session.isPlatform) throw notFound()
  return session
}

/** The path to open after the sign-in; `/` if it could lead to another site. */
export const ownPath = (next: unknown): string =>
  typeof next === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
