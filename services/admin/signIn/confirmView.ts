import { passkeyForm } from '../passkeys/view.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import type { Session } from './sessions.ts'

type Shown = {
  session: Session
  next: string
  isFactorOnly: boolean
  /** What a browser needs to sign with a passkey; undefined without one. */
  options: string | undefined
  mistake: string | undefined
  csrf: string
}

/** The forms that confirm a session: with a passkey, if there is one, and with a password or a code. */
export function confirmForms(shown: Shown): Html {
  const { options, next, isFactorOnly, mistake, csrf } = shown
  const hidden = html`<input type="hidden" name="next" value="${next}">
${isFactorOnly ? html`<input type="hidden" name="factor" value="yes">` : ''}`
  return html`<p>Enter ${isFactorOnly ? factorNames(shown) : passwordNames(shown)} to continue.</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
${options === undefined ? '' : passkeyForm({ action: '/confirm', kind: 'get', options, csrf, button: 'Use a passkey', fields: hidden })}
<form method="post" action="/confirm">${csrfField(csrf)}
${hidden}
${isFactorOnly ? codeField(shown) : passwordField(shown)}
<div class="actions"><button class="primary">Continue</button></div>
</form>`
}

const passwordNames = ({ session: { hasApp } }: Shown) =>
  `your password${hasApp ? ', or a code of your app,' : ''}`

const factorNames = ({ session: { hasApp } }: Shown) =>
  `${hasApp ? 'a code of your app' : 'a recovery code, or use a passkey,'}`

const passwordField = ({ session: { email, hasApp } }: Shown): Html =>
  html`<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
<label for="password">${hasApp ? 'Password or code' : 'Password'}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>`

const codeField = ({ session: { hasApp } }: Shown): Html =>
  html`<label for="password">${hasApp ? 'Code of your app, or a recovery code' : 'Recovery code'}</label>
<input id="password" name="password" autocomplete="one-time-code" required maxlength="40">`
