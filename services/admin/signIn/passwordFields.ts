import { maxPasswordLength, minPasswordLength } from '@tally/access'
import { type Html, html } from '../views/html.ts'

/** The field for a new password, with the reason why the last one was refused. */
export function newPasswordFields(name: string, mistake: string | undefined): Html {
  return html`<label for="${name}">New password</label>
<input id="${name}" name="${name}" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="${maxPasswordLength}" aria-describedby="${name}-rule">
<p class="faint" id="${name}-rule">${minPasswordLength} to ${maxPasswordLength} characters, not a common password.</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}`
}
