import { noteOf } from '@tally/access'
import type { AdminDeps } from '../deps.ts'
import { tooManyAttempts } from '../http/problem.ts'
import type { Exceeded } from './attempts.ts'

type Noted = Parameters<typeof noteOf>[2]

/** A sign-in that did not succeed: the account that was named, if it may exist, and from where. */
type Refusal = {
  account: string | undefined
  address: string
  /** If an OpenID provider was asked: its host, and why it was not enough; never a token. */
  openId?: { provider: string; reason: string }
}

/** A passkey that was refused is not a guess: it does not count among the wrong codes of which its owner is warned. */
export const refusedPasskey = { action: 'code-refused', detail: 'a passkey' } as const

/** Records a wrong password or code: in the audit trail if the account exists, and in the log. */
export async function noteRefused(
  { db, metrics, logger }: AdminDeps,
  refusal: Refusal,
  what: Noted = { action: 'sign-in-refused' },
): Promise<void> {
  metrics.signIns.inc({ outcome: 'refused' })
  const administratorId = await noteFor(db, refusal, what)
  const { address, openId } = refusal
  logger.info({ administratorId, address, ...openId }, 'a sign-in was refused')
}

/** Records the first attempt of a window over a limit; further ones would only fill the trail and the log. */
export async function noteLimited(
  { db, metrics, logger }: AdminDeps,
  refusal: Refusal,
  { limit, isFirst }: Exceeded,
): Promise<void> {
  metrics.signIns.inc({ outcome: 'limited' })
  if (!isFirst) return
  const administratorId = await noteFor(db, refusal, { action: 'sign-in-limited', detail: `by ${limit}` })
  logger.warn({ administratorId, address: refusal.address, limit }, 'sign-in attempts are limited')
}

/** As noteLimited, if a limit is exceeded; then throws a 429. */
export async function throwIfExceeded(
  deps: AdminDeps,
  refusal: Refusal,
  exceeded: Exceeded | undefined,
  problem = tooManyAttempts,
): Promise<void> {
  if (exceeded === undefined) return
  await noteLimited(deps, refusal, exceeded)
  throw problem(exceeded)
}

/** An unknown e-mail is recorded nowhere: it may be a password in the wrong field. */
const noteFor = async (db: AdminDeps['db'], { account: email, address }: Refusal, what: Noted) =>
  email === undefined ? undefined : noteOf(db, { email, address }, what)
