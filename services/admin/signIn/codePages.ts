import { ownerOfToken, useToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem, tooManyAttempts } from '../http/problem.ts'
import { checkCode } from '../secondFactor/checkCode.ts'
import { useCode } from '../secondFactor/store.ts'
import { codeField } from '../secondFactor/view.ts'
import { afterSignIn } from '../secondFactor/wrongCodes.ts'
import { html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { forgetAttempts, takeAttempt } from './attempts.ts'
import { openSession } from './begin.ts'
import { clearCookie, readCookie } from './cookies.ts'
import { knownDevice } from './devices.ts'
import { ownPath } from './guard.ts'
import { noteLimited } from './refusals.ts'

const expired = () =>
  new PageProblem(400, 'This sign-in has expired', 'Go back to the sign-in page and try again.')

/** The second step of a sign-in with a password: the code of an app, or a recovery code. */
export function codePages(app: FastifyInstance, deps: AdminDeps): void {
  const { db, metrics } = deps
  const show = (request: FastifyRequest, reply: FastifyReply, next: string, mistake?: string) =>
    sendPage(request, reply, csrf => ({
      title: 'Second factor',
      body: html`<section class="card narrow">
<h1>Second factor</h1>
<form method="post" action="/sign-in/code">${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
${codeField('Code of your app, or a recovery code', mistake)}
<div class="actions"><button class="primary">Sign in</button></div>
</form></section>`,
    }))

  app.get<{ Querystring: { next?: unknown } }>('/sign-in/code', (request, reply) =>
    show(request, reply, ownPath(request.query.next)),
  )

  app.post('/sign-in/code', async (request, reply) => {
    const fields = fieldsOf(request)
    const next = ownPath(textOf(fields, 'next'))
    const token = readCookie(request, 'code') ?? ''
    const owner = await ownerOfToken(db, 'code', token)
    if (owner === undefined) throw expired()
    const { administratorId, email } = owner
    // Counted like passwords: who knows the password cannot try more codes than passwords.
    const device = await knownDevice(db, readCookie(request, 'device'), email)
    const attempt = { email, address: request.ip, device }
    const exceeded = await takeAttempt(db, attempt)
    if (exceeded !== undefined) {
      await noteLimited(deps, { account: email, address: request.ip }, exceeded)
      throw tooManyAttempts(exceeded)
    }
    const typed = textOf(fields, 'code')
    // One transaction, so that of two codes sent at once the one that does not sign in is not used up.
    const use = () =>
      db.transaction().execute(async tx => {
        const used = await useCode({ ...deps, db: tx }, administratorId, typed)
        if (used !== undefined && !(await useToken(tx, 'code', token))) throw expired()
        return used
      })
    const used = await checkCode(deps, request, { administratorId, email, typed }, use)
    if (used === undefined) return show(request, reply.code(401), next, 'Incorrect code.')
    await forgetAttempts(db, attempt)
    clearCookie(request, reply, 'code')
    await openSession(deps, request, reply, administratorId, {
      action: used === 'app' ? 'sign-in' : 'sign-in-recovery',
    })
    metrics.signIns.inc({ outcome: 'signed-in' })
    return reply.redirect(await afterSignIn(db, administratorId, next), 303)
  })
}
