import {
  findCredentials,
  hashPassword,
  isPassword,
  maxPasswordLength,
  minPasswordLength,
  passwordProblem,
} from '@tally/access'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { type Html, html } from '../views/html.ts'
import { countAttempt, uncountAttempt } from './attempts.ts'
import { sessionOf } from './guard.ts'
import { knownAsker } from './passwordQueue.ts'
import { type Proof, proveFactor } from './proveFactor.ts'
import { noteRefused, throwIfExceeded } from './refusals.ts'

/**
 * Runs `work` if `given` is the signed-in administrator's password, in the same turn of the queue; undefined if it is
 * not. Throws a 429 after ten attempts of this session in 15 minutes.
 */
export async function withOwnPassword<Result>(
  deps: AdminDeps,
  request: FastifyRequest,
  given: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  await takeOwnAttempt(deps, request)
  const { sessionId, email } = sessionOf(request)
  const found = await findCredentials(deps.db, email)
  const result =
    found &&
    (await deps.queuePasswordHash(
      knownAsker(email),
      async () => ((await isPassword(given, found.passwordHash)) ? work() : undefined),
      () => uncountAttempt(deps.db, 'session', String(sessionId)),
    ))
  if (result === undefined) await noteRefused(deps, { account: email, address: request.ip })
  return result
}

/** Whether `proof` is of the signed-in administrator's second factor. Throws as withOwnPassword; a code is used up. */
export async function isOwnFactor(deps: AdminDeps, request: FastifyRequest, proof: Proof): Promise<boolean> {
  await takeOwnAttempt(deps, request)
  return (await proveFactor(deps, request, sessionOf(request), proof)) !== undefined
}

async function takeOwnAttempt(deps: AdminDeps, request: FastifyRequest): Promise<void> {
  const { sessionId, email } = sessionOf(request)
  const { exceeded } = await countAttempt(deps.db, 'session', String(sessionId))
  await throwIfExceeded(deps, { account: email, address: request.ip }, exceeded)
}

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
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="${maxPasswordLength}" aria-describedby="password-rule">
<p class="faint" id="password-rule">${minPasswordLength} to ${maxPasswordLength} characters, not a common password.</p>`
