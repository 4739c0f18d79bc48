import { raw } from 'hono/html'
import { renderSVG } from 'uqr'
import { counted } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField, type Page } from '../views/layout.ts'
import { uriOf } from './codes.ts'

type Enrolled = {
  secret: string
  email: string
  mistake: string | undefined
  csrf: string
  isRequired: boolean
}

/** The secret for an authenticator app, and the form for its first code. */
export function enrolView({ secret, email, mistake, csrf, isRequired }: Enrolled): Html {
  return html`<p class="crumb"><a href="/account">Account</a></p>
<section class="card narrow">
<h1>Set up a second factor</h1>
${isRequired ? html`<p class="warning">This installation requires a second factor. Set it up to continue.</p>` : ''}
<p>Scan the code with an authenticator app, or type the secret into it.</p>
<div class="qr" role="img" aria-label="QR code with the secret">${raw(renderSVG(uriOf(secret, email), { border: 4 }))}</div>
<p><a class="button" href="${uriOf(secret, email)}">Open the app on this device</a></p>
<p>Secret: <code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>
<form method="post" action="/account/second-factor">${csrfField(csrf)}
${codeField('Code that the app shows', mistake)}
<div class="actions"><button class="primary">Turn on</button></div>
</form></section>`
}

/** What an administrator with a second factor may do about it. */
export function ownFactorView({
  left,
  mistake,
  csrf,
}: Pick<Enrolled, 'mistake' | 'csrf'> & { left: number }): Html {
  return html`<p class="crumb"><a href="/account">Account</a></p>
<section class="card narrow">
<h1>Second factor</h1>
<p>Your second factor is on. ${counted(left, 'recovery code')} left. For new codes, or another app, turn it off and on again.</p>
<form method="post" action="/account/second-factor/remove">${csrfField(csrf)}
${codeField('Code of the app, or a recovery code', mistake)}
<div class="actions"><button class="danger">Turn off</button></div>
</form></section>`
}

const textFile = (text: string): string => `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`

/** The page of the recovery codes, which are shown only here. */
export const codesPage = (codes: string[]): Page => ({
  title: 'Recovery codes',
  section: 'account',
  script: 'codes.js',
  body: html`<section class="card narrow">
<h1>Recovery codes</h1>
<p class="warning" role="alert"><strong>Keep these codes now.</strong> They will not be shown again. Each signs you in once in place of your second factor.</p>
<ul class="codes" id="codes">${codes.map(code => html`<li><code>${code}</code></li>\n`)}</ul>
<div class="actions"><button type="button" data-copy="codes">Copy</button><a class="button" download="tally-recovery-codes.txt" href="${textFile(`Recovery codes of Tally\n${codes.join('\n')}\n`)}">Download</a><button type="button" id="print">Print</button></div>
<p class="hidden" role="status" id="copied"></p>
<p><a class="button primary" href="/account">Done, I have kept them</a></p>
</section>`,
})

/** The field for a code of somebody who has a second factor. */
export const ownCodeField = (hasApp: boolean, name: 'code' | 'password'): Html =>
  codeField(hasApp ? 'Code of your app, or a recovery code' : 'Recovery code', undefined, name)

/** The field for a code, with the reason why the last one was refused. */
function codeField(label: string, mistake: string | undefined, name = 'code'): Html {
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" autocomplete="one-time-code" required maxlength="40">
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}`
}
