import { hashPassword, maxPasswordLength, minPasswordLength, passwordProblem } from '@tally/access'
import type { AdminDeps } from '../deps.ts'
import { type Html, html } from '../views/html.ts'

/**
 * The hash of a new password, or why it is refused. Judging a long one takes 0.1 s, in which no other page is answered:
 * only for an attempt that is counted and has its turn in the queue.
 */
export async function hashNewPassword(
  { passwordCost }: AdminDeps,
  password: string,
  email: string,
): Promise<{ passwordHash: string; problem?: undefined } | { problem: string }> {
  const problem = await passwordProblem(password, email)
  return problem === undefined ? { passwordHash: await hashPassword(password, passwordCost) } : { problem }
}

/** The field for a new password, with the reason why the last one was refused. */
export const newPasswordFields = (mistake: string | undefined): Html =>
  html`<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="${maxPasswordLength}" aria-describedby="password-rule">
<p class="faint" id="password-rule">${minPasswordLength} to ${maxPasswordLength} characters, not a common password.</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}`
