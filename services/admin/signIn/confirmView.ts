import { passkeyForm } from '../passkeys/view.ts'
import { ownCodeField } from '../secondFactor/view.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import type { Session } from './sessions.ts'

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
  csrf: string
}

/** The forms with which somebody proves who they are: with a passkey, if there is one, or by typing something. */
export const proofForms = ({ action, hidden, options, field, button, mistake, csrf }: ProofForms): Html =>
  html`${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
${options === undefined ? '' : html`${passkeyForm({ action, kind: 'get', options, csrf, button: 'Use a passkey', fields: hidden })}<p class="or"><span>or</span></p>`}
<form method="post" action="${action}">${csrfField(csrf)}
${hidden}
${field}
<div class="actions"><button${options === undefined ? html` class="primary"` : ''}>${button}</button></div>
</form>`

type Shown = Pick<ProofForms, 'options' | 'mistake' | 'csrf'> & {
  session: Session
  next: string
  isFactorOnly: boolean
}

/** The forms that confirm a session. */
export function confirmForms({ session, next, isFactorOnly, ...shown }: Shown): Html {
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
