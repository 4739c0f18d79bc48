import { ownerOfToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { askForSignature, challengeOf } from '../passkeys/asking.ts'
import { passkeyForm } from '../passkeys/view.ts'
import { factorsOf } from '../secondFactor/store.ts'
import { codeField } from '../secondFactor/view.ts'
import { afterSignIn } from '../secondFactor/wrongCodes.ts'
import { html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { forgetAttempts, takeAttempt } from './attempts.ts'
import { openSession } from './begin.ts'
import { clearCookie, readCookie } from './cookies.ts'
import { knownDevice } from './devices.ts'
import { ownPath } from './guard.ts'
import { expired, proveFactor } from './proveFactor.ts'
import { noteLimited } from './refusals.ts'

const actions = { app: 'sign-in', recovery: 'sign-in-recovery', passkey: 'sign-in-passkey' } as const

/** The second step of a sign-in with a password: the code of an app, a passkey, or a recovery code. */
export function codePages(app: FastifyInstance, deps: AdminDeps): void {
  const { db, metrics } = deps
  const tokenOf = (request: FastifyRequest) => readCookie(request, 'code') ?? ''
  const ownerOf = (request: FastifyRequest) => ownerOfToken(db, 'code', tokenOf(request))

  async function show(request: FastifyRequest, reply: FastifyReply, next: string, mistake?: string) {
    const { administratorId } = (await ownerOf(request)) ?? {}
    const options =
      administratorId &&
      (await askForSignature(deps, request, administratorId, challengeOf(tokenOf(request))))
    const hasApp = administratorId === undefined || (await factorsOf(db, administratorId)).hasApp
    const hidden = html`<input type="hidden" name="next" value="${next}">`
    return sendPage(request, reply, csrf => ({
      title: 'Second factor',
      ...(options ? { script: 'passkey.js' } : {}),
      body: html`<section class="card narrow">
<h1>Second factor</h1>
${options ? passkeyForm({ action: '/sign-in/code', kind: 'get', options, csrf, button: 'Use a passkey', fields: hidden }) : ''}
<form method="post" action="/sign-in/code">${csrfField(csrf)}
${hidden}
${codeField(hasApp ? 'Code of your app, or a recovery code' : 'Recovery code', mistake)}
<div class="actions"><button class="primary">Sign in</button></div>
</form></section>`,
    }))
  }

  app.get<{ Querystring: { next?: unknown } }>('/sign-in/code', (request, reply) =>
    show(request, reply, ownPath(request.query.next)),
  )

  app.post('/sign-in/code', async (request, reply) => {
    const fields = fieldsOf(request)
    const next = ownPath(textOf(fields, 'next'))
    const owner = await ownerOf(request)
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
    const proven = await proveFactor(deps, request, { owner, token: tokenOf(request) }, fields)
    if ('mistake' in proven) return show(request, reply.code(401), next, proven.mistake)
    await forgetAttempts(db, attempt)
    clearCookie(request, reply, 'code')
    await openSession(deps, request, reply, administratorId, {
      action: actions[proven.used],
      isFactorProven: true,
    })
    metrics.signIns.inc({ outcome: 'signed-in' })
    return reply.redirect(await afterSignIn(db, administratorId, next), 303)
  })
}
