import { redeemToken } from '@tally/access'
import type { Tx } from '@tally/platform'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import { challengeOf } from '../passkeys/asking.ts'
import { judgeSignature } from '../passkeys/judging.ts'
import { checkCode } from '../secondFactor/checkCode.ts'
import { useCode } from '../secondFactor/store.ts'
import { noteRefused, refusedPasskey } from './refusals.ts'

export const expired = () =>
  new PageProblem(400, 'This sign-in has expired', 'Go back to the sign-in page and try again.')

/** Who proves a second factor; in a sign-in, with the token that says that the password was right. */
type Prover = { administratorId: string; email: string; token?: string }

/** What a form has of a second factor: without a passkey's signature, it is a code. */
export type Proof = { code: string; passkey: string }

/** Which second factor somebody proves; undefined for a wrong one, which is noted. */
export async function proveFactor(
  deps: AdminDeps,
  request: FastifyRequest,
  { administratorId, email, token }: Prover,
  { code, passkey }: Proof,
): Promise<'app' | 'recovery' | 'passkey' | undefined> {
  /** Uses the token up with what `use` proves: of two sent at once, the one that fails is not used up. */
  const once = <Used>(use: (tx: Tx) => Promise<Used | undefined>) =>
    deps.db.transaction().execute(async tx => {
      const used = await use(tx)
      if (used !== undefined && token !== undefined && !(await redeemToken(tx, 'code', token)))
        throw expired()
      return used
    })
  if (passkey === '')
    return checkCode(deps, request, { administratorId, email, typed: code }, () =>
      once(tx => useCode({ ...deps, db: tx }, administratorId, code)),
    )
  const challenge = token && challengeOf(token)
  const judged = { request, logger: deps.logger, administratorId, challenge }
  const used = await once(async tx =>
    (await judgeSignature({ ...judged, tx }, passkey)) ? ('passkey' as const) : undefined,
  )
  if (used === undefined) await noteRefused(deps, { account: email, address: request.ip }, refusedPasskey)
  return used
}

export const passkeyMistake = 'The passkey was not accepted. Try again.'

/** What somebody reads whose second factor was wrong. */
export const mistakeOf = ({ passkey }: Proof): string => (passkey === '' ? 'Incorrect code.' : passkeyMistake)
