import { allowOnce, email, findCredentials, hashPassword, isPassword, newToken, note } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { factorsOf } from '../secondFactor/store.ts'
import { forgetAttempts, giveBackAttempt, takeAttempt } from './attempts.ts'
import { openSession } from './begin.ts'
import { clearCookies, giveCookie, readCookie, sessionToken } from './cookies.ts'
import { knownDevice } from './devices.ts'
import { expiredNotice } from './formAgain.ts'
import { ownPath } from './guard.ts'
import { knownAsker, queuePasswordHash, strangerAt } from './passwordQueue.ts'
import { noteLimited, noteRefused } from './refusals.ts'
import { endSession, findSession } from './sessions.ts'
import { signInView } from './view.ts'

/** The same for an unknown e-mail and a wrong password, so that it does not reveal who is an administrator. */
const wrong = 'Incorrect e-mail or password.'

/** Sends the form of the sign-in. */
function openShow({ oidc, allowsPasswords, contact }: AdminDeps) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Parameters<typeof signInView>[0],
    notice?: string,
  ) => {
    const of = { ...shown, hasOidc: oidc !== undefined, hasPasswords: allowsPasswords, contact }
    return sendPage(request, reply, csrf => ({
      title: 'Sign in',
      notice,
      body: signInView({ ...of, csrf }),
    }))
  }
}

export function signInPages(app: FastifyInstance, deps: AdminDeps): void {
  const { db, metrics, logger } = deps
  /** Compared if there is no such account, so that it takes as long. */
  const placeholderHash = hashPassword('placeholder', deps.passwordCost)
  const show = openShow(deps)

  app.get<{ Querystring: Record<'next' | 'done' | 'ended', unknown> }>('/sign-in', async (request, reply) => {
    const next = ownPath(request.query.next)
    const token = sessionToken(request)
    if (token !== undefined && (await findSession(db, token)) !== undefined) return reply.redirect(next, 303)
    const { done, ended } = request.query
    const told = done === 'reset' ? 'Password set. Sign in with it.' : expiredNotice(request)
    return show(request, reply, { next }, ended === 'yes' ? 'You were signed out. Sign in to go on.' : told)
  })

  if (deps.allowsPasswords) app.post('/sign-in', (request, reply) => withPassword(request, reply))

  async function withPassword(request: FastifyRequest, reply: FastifyReply) {
    const fields = fieldsOf(request)
    const next = ownPath(textOf(fields, 'next'))
    const given = textOf(fields, 'email')
    // An e-mail that no account can have is counted like any other.
    const account = email.safeParse(given).data
    const device = await knownDevice(db, readCookie(request, 'device'), account)
    const attempt = { email: account ?? given.slice(0, 254), address: request.ip, device }
    const exceeded = await takeAttempt(db, attempt)
    if (exceeded !== undefined) {
      soon(noteLimited(deps, { account, address: request.ip }, exceeded))
      throw tooManyAttempts(exceeded)
    }
    const asker = device === undefined ? strangerAt(request) : knownAsker(attempt.email)
    const administratorId = await queuePasswordHash(
      asker,
      () => check(account, textOf(fields, 'password')),
      () => giveBackAttempt(db, attempt),
    )
    if (administratorId === undefined) {
      soon(noteRefused(deps, { account, address: request.ip }))
      return show(request, reply.code(401), { next, email: given, mistake: wrong })
    }
    const { hasApp, hasPasskey } = await factorsOf(db, administratorId)
    if (hasApp || hasPasskey) {
      const token = newToken()
      await allowOnce(db, 'code', token, administratorId)
      giveCookie(request, reply, 'code', token)
      return reply.redirect(`/sign-in/code?next=${encodeURIComponent(next)}`, 303)
    }
    await forgetAttempts(db, attempt)
    await openSession(deps, request, reply, administratorId, { action: 'sign-in' })
    metrics.signIns.inc({ outcome: 'signed-in' })
    return reply.redirect(next, 303)
  }

  app.post('/sign-out', async (request, reply) => {
    const token = sessionToken(request)
    const session = token === undefined ? undefined : await findSession(db, token)
    if (token !== undefined && session !== undefined) {
      await db.transaction().execute(async tx => {
        await endSession(tx, token)
        await note(tx, { ...session, address: request.ip }, { action: 'sign-out' })
      })
    }
    clearCookies(request, reply)
    return reply.redirect('/sign-in', 303)
  })

  /** Does not wait: an entry is written only for accounts that exist, and the time for it would tell which do. */
  const soon = (work: Promise<void>) =>
    void work.catch(error => logger.warn({ err: error }, 'a refused sign-in was not recorded'))

  async function check(account: string | undefined, password: string): Promise<string | undefined> {
    const found = account === undefined ? undefined : await findCredentials(db, account)
    const isRight = await isPassword(password, found?.passwordHash ?? (await placeholderHash))
    return isRight ? found?.administratorId : undefined
  }
}
