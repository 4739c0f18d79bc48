import { ownerOfToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { askForSignature, challengeOf } from '../passkeys/asking.ts'
import { afterSignIn } from '../secondFactor/checkCode.ts'
import { ownCodeField } from '../secondFactor/pages.ts'
import { factorsOf } from '../secondFactor/store.ts'
import { html } from '../views/html.ts'
import { forgetAttempts, takeAttempt } from './attempts.ts'
import { startSession } from './begin.ts'
import { proofForms } from './confirmPages.ts'
import { clearCookie, readCookie } from './cookies.ts'
import { knownDevice } from './devices.ts'
import { ownPath } from './formAgain.ts'
import { expired, mistakeOf, proveFactor } from './proveFactor.ts'
import { throwIfExceeded } from './refusals.ts'

const actions = { app: 'sign-in', recovery: 'sign-in-recovery', passkey: 'sign-in-passkey' } as const

/** The second step of a sign-in with a password: the code of an app, a passkey, or a recovery code. */
export function codePages(app: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps
  const tokenOf = (request: FastifyRequest) => readCookie(request, 'code') ?? ''
  const ownerOf = (request: FastifyRequest) => ownerOfToken(db, 'code', tokenOf(request))

  async function show(request: FastifyRequest, reply: FastifyReply, next: string, mistake?: string) {
    const { administratorId } = (await ownerOf(request)) ?? {}
    const options =
      administratorId &&
      (await askForSignature(deps, request, administratorId, challengeOf(tokenOf(request))))
    const hasApp = administratorId === undefined || (await factorsOf(db, administratorId)).hasApp
    const hidden = html`<input type="hidden" name="next" value="${next}">`
    const field = ownCodeField(hasApp, 'code')
    return sendPage(request, reply, {
      title: 'Second factor',
      ...(options === undefined ? {} : { script: 'passkey.js' }),
      body: html`<section class="card narrow">
<h1>Second factor</h1>
${proofForms({ action: '/sign-in/code', hidden, options, field, button: 'Sign in', mistake })}
</section>`,
    })
  }

  app.get<{ Querystring: { next?: unknown } }>('/sign-in/code', (request, reply) =>
    show(request, reply, ownPath(request.query.next)),
  )

  app.post('/sign-in/code', async (request, reply) => {
    const fields = formFields(request)
    const next = ownPath(textOf(fields, 'next'))
    const owner = await ownerOf(request)
    if (owner === undefined) throw expired()
    const { administratorId, email } = owner
    // Counted like passwords: who knows the password cannot try more codes than passwords.
    const attempt = { email, address: request.ip, device: await knownDevice(db, request, email) }
    await throwIfExceeded(deps, { account: email, address: request.ip }, await takeAttempt(db, attempt))
    const proof = { code: textOf(fields, 'code'), passkey: textOf(fields, 'passkey') }
    const used = await proveFactor(deps, request, { administratorId, email, token: tokenOf(request) }, proof)
    if (used === undefined) return show(request, reply.code(401), next, mistakeOf(proof))
    await forgetAttempts(db, attempt)
    clearCookie(request, reply, 'code')
    await startSession(deps, request, reply, owner, { action: actions[used], isFactorProven: true })
    return reply.redirect(await afterSignIn(db, administratorId, next), 303)
  })
}
