import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../http/problem.ts'
import type { AdminParts } from '../parts.ts'
import { sessionToken } from './cookies.ts'
import { findSession, type Session } from './sessions.ts'

/** Lets only who is signed in pass; others are shown the way to sign in, and afterwards to where they wanted. */
export function requireSession({ db }: AdminParts) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const token = sessionToken(request)
    request.session = token === undefined ? undefined : await findSession(db, token)
    if (request.session !== undefined) return
    const isPage = request.method === 'GET' && !request.url.includes('/stream')
    if (!isPage)
      return reply
        .code(request.method === 'GET' ? 401 : 303)
        .header('Location', '/sign-in')
        .send()
    return reply.redirect(`/sign-in?next=${encodeURIComponent(request.url)}`, 303)
  }
}

/** Who is signed in, on a page behind the guard. */
export function sessionOf({ session }: FastifyRequest): Session {
  if (session === undefined) throw new Error('a page of the area was reached without a session')
  return session
}

/** As sessionOf, for what only the platform team may see; to others it is not there. */
export function platformSessionOf(request: FastifyRequest): Session {
  const session = sessionOf(request)
  if (!session.isPlatform) throw notFound()
  return session
}

/** A path of our own to go on to after the sign-in; anything that could lead elsewhere is the start. */
export const ownPath = (next: unknown): string =>
  typeof next === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
