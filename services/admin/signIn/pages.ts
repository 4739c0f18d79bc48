import {
  type Credentials,
  email,
  findCredentials,
  hashPassword,
  isPassword,
  isStillPassword,
  issueToken,
  newToken,
  note,
} from '@tally/access'
import type { Postgres, Tx } from '@tally/platform'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { factorsOf } from '../secondFactor/store.ts'
import { forgetAttempts, giveBackAttempt, takeAttempt } from './attempts.ts'
import { startSession } from './begin.ts'
import { clearCookies, sessionToken, setCookie } from './cookies.ts'
import { knownDevice } from './devices.ts'
import { ownPath } from './formAgain.ts'
import { knownAsker, strangerAt } from './passwordQueue.ts'
import { expired } from './proveFactor.ts'
import { noteLimited, noteRefused } from './refusals.ts'
import { endSession, findSession } from './sessions.ts'
import { type SignInShown, signInView } from './view.ts'

/** The same for an unknown e-mail and a wrong password, so that it does not reveal who is an administrator. */
const wrong = 'Incorrect e-mail or password.'

const notices = new Map<unknown, string>([
  ['reset', 'Password set. Sign in with it.'],
  ['everywhere', 'All your sessions have ended.'],
])

export function signInPages(app: FastifyInstance, deps: AdminDeps): void {
  const { db, logger } = deps
  /** Compared if there is no such account, so that it takes as long. */
  const placeholderHash = hashPassword('placeholder', deps.passwordCost)
  const show = (request: FastifyRequest, reply: FastifyReply, shown: SignInShown, notice?: string) =>
    sendPage(request, reply, { title: 'Sign in', notice, body: signInView(shown, deps) })

  app.get<{ Querystring: Record<'next' | 'done' | 'ended', unknown> }>('/sign-in', async (request, reply) => {
    const next = ownPath(request.query.next)
    const { done, ended } = request.query
    const notice = ended === 'yes' ? 'You were signed out. Sign in to go on.' : notices.get(done)
    const token = sessionToken(request)
    // After a reset link, whoever else is signed in here is not meant.
    if (done !== 'reset' && token && (await findSession(db, token))) return reply.redirect(next, 303)
    return show(request, reply, { next }, notice)
  })

  if (deps.allowsPasswords) app.post('/sign-in', (request, reply) => withPassword(request, reply))

  async function withPassword(request: FastifyRequest, reply: FastifyReply) {
    const fields = formFields(request)
    const next = ownPath(textOf(fields, 'next'))
    const given = textOf(fields, 'email')
    // An e-mail that no account can have is counted like any other.
    const account = email.safeParse(given).data
    const device = await knownDevice(db, request, account)
    const attempt = { email: account ?? given.slice(0, 254), address: request.ip, device }
    const exceeded = await takeAttempt(db, attempt)
    if (exceeded !== undefined) {
      soon(noteLimited(deps, { account, address: request.ip }, exceeded))
      throw tooManyAttempts(exceeded)
    }
    const asker = device === undefined ? strangerAt(request) : knownAsker(attempt.email)
    const checked = await deps.queuePasswordHash(
      asker,
      () => check(db, account, textOf(fields, 'password'), placeholderHash),
      () => giveBackAttempt(db, attempt),
    )
    if (checked === undefined) {
      soon(noteRefused(deps, { account, address: request.ip }))
      return show(request, reply.code(401), { next, email: given, mistake: wrong })
    }
    const { administratorId } = checked
    if ((await factorsOf(db, administratorId)).hasSecondFactor) {
      const token = newToken()
      await db.transaction().execute(async tx => {
        await throwIfReplaced(tx, checked)
        await issueToken(tx, { purpose: 'code', token, administratorId })
      })
      setCookie(request, reply, 'code', token)
      return reply.redirect(`/sign-in/code?next=${encodeURIComponent(next)}`, 303)
    }
    await forgetAttempts(db, attempt)
    const before = (tx: Tx) => throwIfReplaced(tx, checked)
    const who = { administratorId, email: attempt.email }
    await startSession(deps, request, reply, who, { action: 'sign-in', before })
    return reply.redirect(next, 303)
  }

  app.post('/sign-out', async (request, reply) => {
    const token = sessionToken(request)
    const session = token && (await findSession(db, token))
    if (session)
      await db.transaction().execute(async tx => {
        await endSession(tx, token)
        await note(tx, { ...session, address: request.ip }, { action: 'sign-out' })
      })
    if (session) deps.recall.forget(session.administratorId)
    clearCookies(request, reply)
    return reply.redirect('/sign-in', 303)
  })

  /** Does not wait: an entry is written only for accounts that exist, and the time for it would tell which do. */
  const soon = (work: Promise<void>) =>
    void work.catch(error => logger.warn({ err: error }, 'a refused sign-in was not recorded'))
}

async function check(
  db: Postgres,
  account: string | undefined,
  password: string,
  placeholderHash: Promise<string>,
): Promise<Credentials | undefined> {
  const found = account === undefined ? undefined : await findCredentials(db, account)
  const isRight = await isPassword(password, found?.passwordHash ?? (await placeholderHash))
  return isRight ? found : undefined
}

/** A new password ends all sessions, also one that begins as it is set. */
async function throwIfReplaced(tx: Tx, checked: Credentials): Promise<void> {
  if (!(await isStillPassword(tx, checked))) throw expired()
}
