import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import { countAttempt, uncountAttempt } from '../signIn/attempts.ts'
import { knownDevice } from '../signIn/devices.ts'
import { noteRefused, throwIfExceeded } from '../signIn/refusals.ts'
import { counted as inWords } from '../views/format.ts'
import { recoveryCodeOf } from './codes.ts'
import type { useCode } from './store.ts'

/** How a wrong code from a browser that the account does not know is noted; readWrongCodes looks for it. */
export const newBrowser = 'from a new browser'

/** Wrong codes in a day, after which the log has a warning: no owner mistypes that often. */
const warnsAt = 10

const tooManyCodes = ({ waitSeconds }: { waitSeconds: number }) =>
  new PageProblem(
    429,
    'Too many wrong codes',
    `Codes of your app are accepted again in ${inWords(Math.ceil(waitSeconds / 3_600), 'hour')}. Until then, go back and enter a recovery code, or use a browser in which you have signed in before.`,
    waitSeconds,
  )

type Entered = { administratorId: string; email: string; typed: string }

/**
 * Lets `use` check a code, of someone who gave the right password or has a session, and notes a wrong one. Wrong codes
 * of apps are counted apart, for each known browser and for all others together, so that neither who knows the
 * password nor who has a session tries many; throws a 429 beyond the limit. Recovery codes are too long to guess.
 */
export async function checkCode(
  deps: AdminDeps,
  request: FastifyRequest,
  { administratorId, email, typed }: Entered,
  use: () => ReturnType<typeof useCode>,
): ReturnType<typeof useCode> {
  const { db } = deps
  const refusal = { account: email, address: request.ip }
  const device = await knownDevice(db, request, email)
  const detail = device === undefined ? newBrowser : 'from a known browser'
  const subject = device ?? administratorId
  const isOfApp = recoveryCodeOf(typed) === undefined
  const counted = isOfApp ? await countAttempt(db, 'code', subject) : undefined
  await throwIfExceeded(deps, refusal, counted?.exceeded, tooManyCodes)
  const giveBack = async () => isOfApp && uncountAttempt(db, 'code', subject)
  const used = await use().catch(async error => {
    await giveBack()
    throw error
  })
  if (used !== undefined) await giveBack()
  else await noteRefused(deps, refusal, { action: 'code-refused', detail })
  if (used === undefined && counted?.attempts === warnsAt)
    deps.logger.warn({ administratorId, address: request.ip }, `${warnsAt} wrong codes of a second factor`)
  return used
}
