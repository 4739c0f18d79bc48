import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { isStream, overEvent } from '../live/serverSentEvent.ts'
import { sessionToken } from './cookies.ts'
import { formAgain, signInAgain } from './formAgain.ts'
import type { Session } from './sessions.ts'

/** The pages that someone without a required second factor may open: those that set it up. */
const duringSetUp = /^\/(account\/(second-factor|passkeys)|confirm)(\?|$)/

/** What the platform team may open while Postgres, which has the sessions, does not answer. */
const duringOutage = /^\/operations(\/runbook)?(\?|$)/

/** Passes signed-in users; redirects others to the sign-in, which leads back to the requested page. */
export function requireSession({ db, recall, requiresSecondFactor }: AdminDeps) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const token = sessionToken(request)
    const mayRecall = request.method === 'GET' && duringOutage.test(request.url)
    request.session = token === undefined ? undefined : await recall.find(db, token, mayRecall)
    if (request.session !== undefined) {
      const { hasSecondFactor, isOidc } = request.session
      // Through the provider, its own rules for a second factor hold.
      const lacksFactor = requiresSecondFactor && !hasSecondFactor && !isOidc
      if (!lacksFactor || duringSetUp.test(request.url)) return
      return reply.redirect('/account/second-factor', 303)
    }
    if (isStream(request)) return reply.type('text/event-stream').send(overEvent)
    // Once its body is read (askToSignIn).
    if (request.method === 'POST') return
    if (request.url.includes('/stream')) return reply.code(401).send()
    const ended = token === undefined ? '' : 'ended=yes&'
    return reply.redirect(`/sign-in?${ended}next=${encodeURIComponent(request.url)}`, 303)
  }
}

/** Redirects a form without a session to the sign-in, and from there back to the form with its fields. */
export async function askToSignIn(request: FastifyRequest, reply: FastifyReply) {
  if (request.session === undefined) return reply.redirect(signInAgain(request), 303)
}

/** Passes anyone who proved their identity within 30 minutes; asks others first, and leads back to the form's page. */
export async function requireRecent(request: FastifyRequest, reply: FastifyReply) {
  if (sessionOf(request).isRecent) return
  return reply.redirect(`/confirm?next=${encodeURIComponent(pageOf(request))}`, 303)
}

/**
 * As requireRecent, for pages that add or remove a second factor, which needs a recent proof of the existing one. If a
 * second factor is mandatory, a password alone cannot enrol the first one: throws a page that says so.
 */
export function requireFactor({ requiresSecondFactor }: AdminDeps) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { hasSecondFactor, isFactorRecent, mayEnrol, isOidc } = sessionOf(request)
    if (!hasSecondFactor && requiresSecondFactor && !mayEnrol && !isOidc) throw needsLink()
    if (!hasSecondFactor) return requireRecent(request, reply)
    if (!isFactorRecent)
      return reply.redirect(`/confirm?factor=yes&next=${encodeURIComponent(pageOf(request))}`, 303)
  }
}

const needsLink = () =>
  new PageProblem(
    403,
    'A second factor is required',
    'To set it up, you need a link. Ask the team that runs Tally for one (tally administrators reset).',
  )

const pageOf = (request: FastifyRequest): string =>
  request.method === 'POST' ? formAgain(request) : request.url

/** Who is signed in and from where, on a page behind the guard. */
export function sessionOf({ session, ip }: FastifyRequest): Session & { address: string } {
  if (session === undefined) throw new Error('a page of the area was reached without a session')
  return { ...session, address: ip }
}

/** As sessionOf, for pages of the platform team; a 404 for others. */
export function platformSessionOf(request: FastifyRequest): Session & { address: string } {
  const session = sessionOf(request)
  if (!session.isPlatform) throw notFound()
  return session
}
