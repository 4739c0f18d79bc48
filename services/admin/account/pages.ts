import {
  findCredentials,
  hashPassword,
  isPassword,
  maxPasswordLength,
  note,
  passwordProblem,
  setPassword,
} from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { countAttempt } from '../signIn/attempts.ts'
import { openSession } from '../signIn/begin.ts'
import { clearCookies } from '../signIn/cookies.ts'
import { sessionOf } from '../signIn/guard.ts'
import { endSessions, listSessions, type Session } from '../signIn/sessions.ts'
import { accountView, type PasswordMistakes } from './view.ts'

const notices: Record<string, string> = { password: 'Password changed. All other sessions have ended.' }

/** One's own account: the sessions, and the password. */
export function accountPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps

  async function show(request: FastifyRequest, reply: FastifyReply, mistakes: PasswordMistakes = {}) {
    const session = sessionOf(request)
    const sessions = await listSessions(db, session.administratorId)
    const { done } = request.query as { done?: unknown }
    return sendPage(request, reply, csrf => ({
      title: 'Account',
      section: 'account',
      notice: Object.hasOwn(notices, String(done)) ? notices[String(done)] : undefined,
      body: accountView({ session, sessions, mistakes, csrf }),
    }))
  }

  area.get('/account', (request, reply) => show(request, reply))

  area.post('/account/password', async (request, reply) => {
    const session = sessionOf(request)
    const { administratorId, email } = session
    const fields = fieldsOf(request)
    if (!(await isOwnPassword(session, textOf(fields, 'current'))))
      return show(request, reply.code(400), { current: 'This is not your current password.' })
    const password = textOf(fields, 'password')
    const problem = await passwordProblem(password, email)
    if (problem !== undefined) return show(request, reply.code(400), { password: `The password ${problem}.` })
    const passwordHash = await hashPassword(password)
    await db.transaction().execute(tx => setPassword(tx, administratorId, passwordHash))
    await openSession(deps, request, reply, administratorId, 'password-changed')
    return reply.redirect('/account?done=password', 303)
  })

  area.post('/account/sign-out-everywhere', async (request, reply) => {
    const session = sessionOf(request)
    await endSessions(db, session.administratorId)
    await note(db, { ...session, address: request.ip }, { action: 'signed-out-everywhere' })
    clearCookies(request, reply)
    return reply.redirect('/sign-in', 303)
  })

  /** Whether it is the password of who is signed in; throws a 429 after too many wrong ones in this session. */
  async function isOwnPassword({ sessionId, email }: Session, password: string): Promise<boolean> {
    const exceeded = await countAttempt(db, 'session', String(sessionId))
    if (exceeded !== undefined) throw tooManyAttempts(exceeded)
    const found = await findCredentials(db, email)
    return found !== undefined && isPassword(password.slice(0, maxPasswordLength + 1), found.passwordHash)
  }
}
