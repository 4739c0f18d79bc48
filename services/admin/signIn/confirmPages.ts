import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { askForSignature } from '../passkeys/asking.ts'
import { passkeyForm } from '../passkeys/pages.ts'
import { ownCodeField } from '../secondFactor/pages.ts'
import { type Html, html } from '../views/html.ts'
import { ownPath } from './formAgain.ts'
import { sessionOf } from './guard.ts'
import { isOwnFactor, withOwnPassword } from './ownPassword.ts'
import { mistakeOf } from './proveFactor.ts'
import { confirmSession, type Session } from './sessions.ts'

/** What is asked for: the password or the second factor, or the second factor only. */
type Asked = { next: string; isFactorOnly: boolean }

const askedOf = (given: { next?: unknown; factor?: unknown }): Asked => ({
  next: ownPath(given.next),
  isFactorOnly: given.factor === 'yes',
})

/**
 * Asks who is signed in for the password or the second factor again, before a page that needs a recent sign-in. Who
 * came through the OpenID provider proves it there.
 */
export function confirmPages(area: FastifyInstance, deps: AdminDeps): void {
  const show = async (request: FastifyRequest, reply: FastifyReply, asked: Asked, mistake?: string) => {
    const session = sessionOf(request)
    const isElsewhere = !deps.allowsPasswords || (session.isOidc && !asked.isFactorOnly)
    const options = isElsewhere ? undefined : await askForSignature(deps, request, session.administratorId)
    return sendPage(request, reply, {
      title: 'Confirm that it is you',
      ...(options === undefined ? {} : { script: 'passkey.js' }),
      body: html`<section class="card narrow">
<h1>Confirm that it is you</h1>
<p>${asked.isFactorOnly ? 'Your second factor is asked for again.' : 'This page needs a sign-in within the last 30 minutes.'}</p>
${isElsewhere ? elsewhere(asked.next) : confirmForms({ session, ...asked, options, mistake })}
</section>`,
    })
  }

  area.get<{ Querystring: { next?: unknown; factor?: unknown } }>('/confirm', (request, reply) =>
    show(request, reply, askedOf(request.query)),
  )

  if (deps.allowsPasswords)
    area.post('/confirm', async (request, reply) => {
      const session = sessionOf(request)
      const fields = formFields(request)
      const asked = askedOf(fields)
      if (session.isOidc && !asked.isFactorOnly) return show(request, reply.code(403), asked)
      // One field takes both: six digits are a code if the account has an authenticator app.
      const [typed, passkey] = [textOf(fields, 'password'), textOf(fields, 'passkey')]
      const isCode = asked.isFactorOnly || (session.hasApp && /^\d{3} ?\d{3}$/.test(typed))
      const isFactor = isCode || passkey !== ''
      const proof = { code: typed, passkey }
      const isProven = isFactor
        ? await isOwnFactor(deps, request, proof)
        : await withOwnPassword(deps, request, typed, async () => true)
      if (!isProven)
        return show(request, reply.code(401), asked, isFactor ? mistakeOf(proof) : 'Incorrect password.')
      await confirmSession(deps.db, session, { isFactor })
      return reply.redirect(asked.next, 303)
    })
}

const elsewhere = (next: string): Html =>
  html`<p><a class="button primary" href="/sign-in/oidc?fresh=yes&next=${encodeURIComponent(next)}">Sign in again with your organization</a></p>`

type ProofForms = {
  action: string
  /** The hidden fields of both forms. */
  hidden: Html
  /** What a browser needs to sign with a passkey; undefined without one. */
  options: string | undefined
  /** What is typed without one. */
  field: Html
  button: string
  mistake: string | undefined
}

/** The forms with which somebody proves who they are: with a passkey, if there is one, or by typing something. */
export const proofForms = ({ action, hidden, options, field, button, mistake }: ProofForms): Html =>
  html`${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
${options === undefined ? '' : html`${passkeyForm({ action, kind: 'get', options, button: 'Use a passkey', fields: hidden })}<p class="or"><span>or</span></p>`}
<form method="post" action="${action}">
${hidden}
${field}
<div class="actions"><button${options === undefined ? html` class="primary"` : ''}>${button}</button></div>
</form>`

type Shown = Pick<ProofForms, 'options' | 'mistake'> & {
  session: Session
  next: string
  isFactorOnly: boolean
}

/** The forms that confirm a session. */
function confirmForms({ session, next, isFactorOnly, ...shown }: Shown): Html {
  const { hasApp, email } = session
  const hidden = html`<input type="hidden" name="next" value="${next}">
${isFactorOnly ? html`<input type="hidden" name="factor" value="yes">` : ''}`
  const factor = hasApp ? 'a code of your app' : 'a recovery code'
  const names = isFactorOnly ? factor : `your password${hasApp ? ', or a code of your app,' : ''}`
  const field = isFactorOnly ? ownCodeField(hasApp, 'password') : passwordField(email, hasApp)
  return html`<p>${shown.options === undefined ? 'Enter' : 'Use a passkey, or enter'} ${names} to continue.</p>
${proofForms({ action: '/confirm', hidden, field, button: 'Continue', ...shown })}`
}

const passwordField = (email: string, hasApp: boolean): Html =>
  html`<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
<label for="password">${hasApp ? 'Password or code' : 'Password'}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>`
