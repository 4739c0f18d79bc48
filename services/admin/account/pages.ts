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
import { hashNewPassword, newPasswordFields, withOwnPassword } from '../signIn/ownPassword.ts'
import {
  endOneSession,
  endSessions,
  type ListedSession,
  listSessions,
  type Session,
} from '../signIn/sessions.ts'
import { counted, moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { browserName } from './browserName.ts'
import { peoplePages } from './people.ts'

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
    return sendPage(request, reply, {
      title: 'Account',
      notice: done === 'password' ? 'Password changed. All other sessions have ended.' : undefined,
      body: accountView({ session, sessions, codesLeft, mistakes, allowsPasswords }),
    })
  }

  area.get('/account', (request, reply) => show(request, reply))

  if (allowsPasswords) area.post('/account/password', changePassword)

  const recent = { preHandler: requireRecent }
  area.post('/account/sessions/:sessionId/end', recent, async (request, reply) => {
    const session = sessionOf(request)
    const { sessionId } = parseOr400(params, request.params)
    await db.transaction().execute(async tx => {
      if (!(await endOneSession(tx, session.administratorId, sessionId))) throw notFound()
      await note(tx, session, { action: 'session-ended' })
    })
    deps.recall.forget(session.administratorId)
    return reply.redirect('/account', 303)
  })

  area.post('/account/sign-out-everywhere', recent, async (request, reply) => {
    const session = sessionOf(request)
    await db.transaction().execute(async tx => {
      await endSessions(tx, session.administratorId)
      await note(tx, session, { action: 'signed-out-everywhere' })
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

type PasswordMistakes = { current?: string; password?: string }
type AccountShown = {
  session: Session
  sessions: ListedSession[]
  codesLeft: number
  mistakes: PasswordMistakes
  allowsPasswords: boolean
}

function accountView({ session, sessions, codesLeft, ...shown }: AccountShown): Html {
  const { mistakes, allowsPasswords } = shown
  return html`<h1>Account</h1>
<p class="faint">${session.email}</p>
<section class="card"><h2>Sessions</h2>
${sessionTable(sessions, session.sessionId)}
<form method="post" action="/account/sign-out-everywhere">
<div class="actions"><button class="danger">Sign out everywhere</button></div>
</form></section>
${allowsPasswords ? html`${secondFactor(session, codesLeft)}${passwordForm(session, mistakes)}` : ''}`
}

function secondFactor({ hasSecondFactor, hasApp, hasPasskey }: Session, codesLeft: number): Html {
  const factors = [...(hasApp ? ['a code of your app'] : []), ...(hasPasskey ? ['a passkey'] : [])]
  return html`<section class="card"><h2>Second factor</h2>
<p>${hasSecondFactor ? `On: a sign-in with the password also asks for ${factors.join(' or ')}. ${counted(codesLeft, 'recovery code')} left.` : 'Off: a sign-in asks for the password only.'}</p>
<p><a class="button" href="/account/second-factor">${hasApp ? 'Turn off the app' : 'Set up an app'}</a> <a class="button" href="/account/passkeys">Passkeys</a></p>
</section>`
}

/** The use of a session is stored once a minute. */
const activeMs = 2 * 60_000

function sessionTable(sessions: ListedSession[], current: number): Html {
  return html`<table>
<caption class="hidden">Your sessions</caption>
<thead><tr><th scope="col">Browser</th><th scope="col">IP address</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col"><span class="hidden">End</span></th></tr></thead>
<tbody>${sessions.map(
    ({ sessionId, browser, address, createdAt, lastSeenAt }) => html`<tr>
<td data-label="Browser"><span title="${browser}">${browserName(browser)}</span>${sessionId === current ? html` <span class="badge good">this one</span>` : ''}</td>
<td data-label="IP address"><code>${address}</code></td>
<td data-label="Signed in">${moment(createdAt)}</td>
<td data-label="Last used">${Date.now() - lastSeenAt < activeMs ? 'active now' : moment(lastSeenAt)}</td>
<td>${sessionId === current ? '' : endForm(sessionId)}</td></tr>`,
  )}</tbody></table>`
}

/** One's own session ends with "Sign out" instead. */
const endForm = (sessionId: number): Html =>
  html`<form method="post" action="/account/sessions/${sessionId}/end"><button class="danger" aria-label="End this session">End</button></form>`

function passwordForm({ email }: Session, mistakes: PasswordMistakes): Html {
  return html`<section class="card form"><h2>Change password</h2>
<p class="faint">All other sessions end.</p>
<form method="post" action="/account/password">
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
<label for="current">Current password</label>
${mistakes.current === undefined ? '' : html`<p class="mistake" role="alert">${mistakes.current}</p>`}
<input id="current" name="current" type="password" autocomplete="current-password" required>
${newPasswordFields(mistakes.password)}
<div class="actions"><button class="primary">Change password</button></div>
</form></section>`
}
