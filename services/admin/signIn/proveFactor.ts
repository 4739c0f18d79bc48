import { useToken } from '@tally/access'
import type { Tx } from '@tally/storage'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { type Fields, textOf } from '../http/forms.ts'
import { PageProblem } from '../http/problem.ts'
import { challengeOf } from '../passkeys/asking.ts'
import { judgeSignature } from '../passkeys/judging.ts'
import { checkCode } from '../secondFactor/checkCode.ts'
import { useCode } from '../secondFactor/store.ts'
import { noteRefused, refusedPasskey } from './refusals.ts'

export const expired = () =>
  new PageProblem(400, 'This sign-in has expired', 'Go back to the sign-in page and try again.')

/** Who gave the right password, and the token that says so. */
type Pending = { owner: { administratorId: string; email: string }; token: string }

/** Which second factor a form of the sign-in proves, or the sentence that says why it proves none. */
export async function proveFactor(
  deps: AdminDeps,
  request: FastifyRequest,
  pending: Pending,
  fields: Fields,
): Promise<{ used: 'app' | 'recovery' | 'passkey' } | { mistake: string }> {
  const answer = textOf(fields, 'passkey')
  if (answer === '') {
    const used = await withCode(deps, request, pending, textOf(fields, 'code'))
    return used === undefined ? { mistake: 'Incorrect code.' } : { used }
  }
  if (await withPasskey(deps, request, pending, answer)) return { used: 'passkey' }
  return { mistake: passkeyMistake }
}

export const passkeyMistake = 'The passkey was not accepted. Try again.'

function withCode(deps: AdminDeps, request: FastifyRequest, pending: Pending, typed: string) {
  const { administratorId, email } = pending.owner
  return checkCode(deps, request, { administratorId, email, typed }, () =>
    once(deps, pending, tx => useCode({ ...deps, db: tx }, administratorId, typed)),
  )
}

async function withPasskey(deps: AdminDeps, request: FastifyRequest, pending: Pending, answer: string) {
  const { administratorId, email } = pending.owner
  const { logger } = deps
  const challenge = challengeOf(pending.token)
  const isRight = await once(deps, pending, async tx =>
    (await judgeSignature({ tx, request, logger, administratorId, challenge }, answer)) ? true : undefined,
  )
  if (!isRight) await noteRefused(deps, { account: email, address: request.ip }, refusedPasskey)
  return isRight
}

/** Uses the password's token up with what `use` proves: of two sent at once, the one that fails is not used up. */
const once = <Used>({ db }: AdminDeps, { token }: Pending, use: (tx: Tx) => Promise<Used | undefined>) =>
  db.transaction().execute(async tx => {
    const used = await use(tx)
    if (used !== undefined && !(await useToken(tx, 'code', token))) throw expired()
    return used
  })
