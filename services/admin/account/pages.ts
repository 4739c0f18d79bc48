import { note, setPassword } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { formFields, parseOr400, rowNumber, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { recoveryCodesLeft } from '../secondFactor/store.ts'
import { startSession } from '../signIn/begin.ts'
import { clearCookies } from '../signIn/cookies.ts'
import { requireRecent, sessionOf } from '../signIn/guard.ts'
import { hashNewPassword } from '../signIn/newPassword.ts'
import { withOwnPassword } from '../signIn/ownPassword.ts'
import { endOneSession, endSessions, listSessions } from '../signIn/sessions.ts'
import { peoplePages } from './people.ts'
import { accountView, type PasswordMistakes } from './view.ts'

const params = z.object({ sessionId: rowNumber })

/** One's own account: the sessions, and the password; and the people of the organization. */
export function accountPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, allowsPasswords } = deps
  peoplePages(area, deps)

  async function show(request: FastifyRequest, reply: FastifyReply, mistakes: PasswordMistakes = {}) {
    const session = sessionOf(request)
    const [sessions, codesLeft] = await Promise.all([
      listSessions(db, session.administratorId),
      recoveryCodesLeft(db, session.administratorId),
    ])
    const { done } = request.query as { done?: unknown }
    return sendPage(request, reply, csrf => ({
      title: 'Account',
      section: 'account',
      notice: done === 'password' ? 'Password changed. All other sessions have ended.' : undefined,
      body: accountView({ session, sessions, codesLeft, mistakes, csrf, allowsPasswords }),
    }))
  }

  area.get('/account', (request, reply) => show(request, reply))

  if (allowsPasswords) area.post('/account/password', changePassword)

  const recent = { preHandler: requireRecent }
  area.post('/account/sessions/:sessionId/end', recent, async (request, reply) => {
    const session = sessionOf(request)
    const { sessionId } = parseOr400(params, request.params)
    await db.transaction().execute(async tx => {
      if (!(await endOneSession(tx, session.administratorId, sessionId))) throw notFound()
      await note(tx, { ...session, address: request.ip }, { action: 'session-ended' })
    })
    deps.recall.forget(session.administratorId)
    return reply.redirect('/account', 303)
  })

  area.post('/account/sign-out-everywhere', recent, async (request, reply) => {
    const session = sessionOf(request)
    await db.transaction().execute(async tx => {
      await endSessions(tx, session.administratorId)
      await note(tx, { ...session, address: request.ip }, { action: 'signed-out-everywhere' })
    })
    deps.recall.forget(session.administratorId)
    clearCookies(request, reply)
    return reply.redirect('/sign-in?done=everywhere', 303)
  })

  async function changePassword(request: FastifyRequest, reply: FastifyReply) {
    const session = sessionOf(request)
    const { administratorId, email } = session
    const fields = formFields(request)
    const judged = await withOwnPassword(deps, request, textOf(fields, 'current'), () =>
      hashNewPassword(deps, textOf(fields, 'password'), email),
    )
    if (judged === undefined)
      return show(request, reply.code(400), { current: 'This is not your current password.' })
    if (judged.problem !== undefined)
      return show(request, reply.code(400), { password: `The password ${judged.problem}.` })
    await startSession(deps, request, reply, session, {
      action: 'password-changed',
      before: tx => setPassword(tx, administratorId, judged.passwordHash),
    })
    return reply.redirect('/account?done=password', 303)
  }
}
