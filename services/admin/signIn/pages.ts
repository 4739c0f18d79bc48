import { email, findCredentials, hashPassword, isPassword, maxPasswordLength } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { note } from '../audit/store.ts'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem } from '../http/problem.ts'
import { forgetAttempts, takeAttempt } from './attempts.ts'
import { clearCookies, giveCookie, readCookie, sessionToken } from './cookies.ts'
import { knownDevice, rememberDevice, rememberedDays } from './devices.ts'
import { ownPath } from './guard.ts'
import { beginSession, endSession, findSession } from './sessions.ts'
import { signInView } from './view.ts'

/** The same for an unknown e-mail and a wrong password, so that it does not reveal who is an administrator. */
const wrong = 'Incorrect e-mail or password.'

/** Compared if there is no such account, so that it takes as long. */
const placeholderHash = hashPassword('placeholder')

export function signInPages(app: FastifyInstance, deps: AdminDeps): void {
  const { db, metrics, oidc } = deps
  const show = (request: FastifyRequest, reply: FastifyReply, shown: Parameters<typeof signInView>[0]) =>
    sendPage(request, reply, csrf => ({
      title: 'Sign in',
      body: signInView({ ...shown, csrf, hasOidc: oidc !== undefined }),
    }))

  app.get<{ Querystring: { next?: unknown } }>('/sign-in', async (request, reply) => {
    const next = ownPath(request.query.next)
    const token = sessionToken(request)
    if (token !== undefined && (await findSession(db, token)) !== undefined) return reply.redirect(next, 303)
    return show(request, reply, { next })
  })

  app.post('/sign-in', async (request, reply) => {
    const fields = fieldsOf(request)
    const next = ownPath(textOf(fields, 'next'))
    const given = textOf(fields, 'email')
    // An e-mail that no account can have is counted like any other.
    const account = email.safeParse(given).data
    const device = await knownDevice(db, readCookie(request, 'device'), account)
    const attempt = { email: account ?? given.slice(0, 254), address: request.ip, device }
    const waitSeconds = await takeAttempt(db, attempt)
    if (waitSeconds !== undefined) {
      metrics.signIns.inc({ outcome: 'limited' })
      throw new PageProblem(
        429,
        'Too many attempts',
        `Try again in ${Math.ceil(waitSeconds / 60)} minutes.`,
        waitSeconds,
      )
    }
    const administratorId = await check(account, textOf(fields, 'password'))
    if (administratorId === undefined) {
      metrics.signIns.inc({ outcome: 'refused' })
      return show(request, reply.code(401), { next, email: given, mistake: wrong })
    }
    await forgetAttempts(db, attempt)
    await signIn(deps, request, reply, administratorId, 'sign-in')
    return reply.redirect(next, 303)
  })

  app.post('/sign-out', async (request, reply) => {
    const token = sessionToken(request)
    const session = token === undefined ? undefined : await findSession(db, token)
    if (token !== undefined && session !== undefined) {
      await endSession(db, token)
      await note(db, { ...session, address: request.ip }, { action: 'sign-out' })
    }
    clearCookies(request, reply)
    return reply.redirect('/sign-in', 303)
  })

  async function check(account: string | undefined, password: string): Promise<string | undefined> {
    const found = account === undefined ? undefined : await findCredentials(db, account)
    const isRight = await isPassword(
      password.slice(0, maxPasswordLength + 1),
      found?.passwordHash ?? (await placeholderHash),
    )
    return isRight ? found?.administratorId : undefined
  }
}

/** Begins a session for an administrator; ends the one that the browser may have. */
export async function signIn(
  { db, metrics }: AdminDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  administratorId: string,
  action: 'sign-in' | 'sign-in-oidc',
): Promise<void> {
  const before = sessionToken(request)
  if (before !== undefined) await endSession(db, before)
  const token = await beginSession(db, administratorId)
  const session = await findSession(db, token)
  if (session === undefined) throw new Error('a session disappeared right after it began')
  await note(db, { ...session, address: request.ip }, { action })
  metrics.signIns.inc({ outcome: 'signed-in' })
  clearCookies(request, reply)
  giveCookie(request, reply, 'session', token)
  const device = await rememberDevice(db, administratorId, readCookie(request, 'device'))
  giveCookie(request, reply, 'device', device, rememberedDays * 86_400)
}
