import { findCredentials, isPassword } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { useCode } from '../secondFactor/store.ts'
import { countAttempt } from './attempts.ts'
import { sessionOf } from './guard.ts'
import { inTurn, knownAsker } from './passwordQueue.ts'
import { noteLimited, noteRefused } from './refusals.ts'
import type { Session } from './sessions.ts'

/** Whether it is the password of who is signed in; throws a 429 after ten attempts of this session in 15 minutes. */
export const isOwnPassword = (deps: AdminDeps, request: FastifyRequest, given: string): Promise<boolean> =>
  isOwn(deps, request, async ({ email }) => {
    const found = await findCredentials(deps.db, email)
    return found !== undefined && inTurn(knownAsker(email), () => isPassword(given, found.passwordHash))
  })

/** As isOwnPassword, for a code of the second factor, which is used up. */
export const isOwnCode = (deps: AdminDeps, request: FastifyRequest, given: string): Promise<boolean> =>
  isOwn(
    deps,
    request,
    async ({ administratorId }) => (await useCode(deps, administratorId, given)) !== undefined,
  )

async function isOwn(
  deps: AdminDeps,
  request: FastifyRequest,
  check: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  const session = sessionOf(request)
  const refusal = { account: session.email, address: request.ip }
  const exceeded = await countAttempt(deps.db, 'session', String(session.sessionId))
  if (exceeded !== undefined) {
    await noteLimited(deps, refusal, exceeded)
    throw tooManyAttempts(exceeded)
  }
  const isRight = await check(session)
  if (!isRight) await noteRefused(deps, refusal)
  return isRight
}
