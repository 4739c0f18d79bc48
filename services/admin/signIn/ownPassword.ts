import { findCredentials, isPassword } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { countAttempt, uncountAttempt } from './attempts.ts'
import { sessionOf } from './guard.ts'
import { knownAsker, queuePasswordHash } from './passwordQueue.ts'
import { type Proof, proveFactor } from './proveFactor.ts'
import { noteRefused, throwIfExceeded } from './refusals.ts'

/**
 * Runs `work` if it is the password of who is signed in, in the same turn of the queue; undefined if it is not. Throws
 * a 429 after ten attempts of this session in 15 minutes.
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
    (await queuePasswordHash(
      knownAsker(email),
      async () => ((await isPassword(given, found.passwordHash)) ? work() : undefined),
      () => uncountAttempt(deps.db, 'session', String(sessionId)),
    ))
  if (result === undefined) await noteRefused(deps, { account: email, address: request.ip })
  return result
}

/** Whether it is the password of who is signed in. */
export const isOwnPassword = async (
  deps: AdminDeps,
  request: FastifyRequest,
  given: string,
): Promise<boolean> => (await withOwnPassword(deps, request, given, async () => true)) ?? false

/** As isOwnPassword, for the second factor; a code is used up. */
export async function isOwnFactor(deps: AdminDeps, request: FastifyRequest, proof: Proof): Promise<boolean> {
  await takeOwnAttempt(deps, request)
  return (await proveFactor(deps, request, sessionOf(request), proof)) !== undefined
}

async function takeOwnAttempt(deps: AdminDeps, request: FastifyRequest): Promise<void> {
  const { sessionId, email } = sessionOf(request)
  const { exceeded } = await countAttempt(deps.db, 'session', String(sessionId))
  await throwIfExceeded(deps, { account: email, address: request.ip }, exceeded)
}
