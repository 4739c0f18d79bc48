import type { AdminDeps } from '../deps.ts'
import { assetPath } from '../http/assets.ts'
import { type Html, html } from '../views/html.ts'

export type SignInShown = { next: string; email?: string; mistake?: string }

export function signInView(
  { next, email = '', mistake }: SignInShown,
  { oidc, allowsPasswords, contact }: Pick<AdminDeps, 'oidc' | 'allowsPasswords' | 'contact'>,
): Html {
  return html`<section class="card narrow sign-in">
<img src="${assetPath('icon.svg')}" alt="" width="56" height="56">
<h1>Tally</h1>
<p class="faint">The administration area of your festivals</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
${allowsPasswords ? html`${passwordForm(next, email)}${forgotten(contact)}` : ''}
${allowsPasswords && oidc ? html`<p class="or"><span>or</span></p>` : ''}
${oidc ? html`<p><a class="button wide" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Sign in with your organization</a></p>` : ''}
</section>`
}

function forgotten(contact: string | undefined): Html {
  const href = contact?.includes('://') ? contact : `mailto:${contact}`
  const whom = contact === undefined ? '' : html`: <a href="${href}">${contact}</a>`
  return html`<p class="faint">Forgot your password? Ask whoever runs Tally for a link${whom}.</p>`
}

const passwordForm = (next: string, email: string): Html =>
  html`<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="primary">Sign in</button>
</form>`
