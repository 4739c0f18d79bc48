import { findCredentials, isPassword } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { judgeSignature } from '../passkeys/judging.ts'
import { checkCode } from '../secondFactor/checkCode.ts'
import { useCode } from '../secondFactor/store.ts'
import { countAttempt, uncountAttempt } from './attempts.ts'
import { sessionOf } from './guard.ts'
import { knownAsker, queuePasswordHash } from './passwordQueue.ts'
import { noteLimited, noteRefused, refusedPasskey } from './refusals.ts'

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
  const checked =
    found &&
    (await queuePasswordHash(
      knownAsker(email),
      async () => ((await isPassword(given, found.passwordHash)) ? { result: await work() } : undefined),
      () => uncountAttempt(deps.db, 'session', String(sessionId)),
    ))
  if (checked === undefined) await noteRefused(deps, { account: email, address: request.ip })
  return checked?.result
}

/** Whether it is the password of who is signed in. */
export const isOwnPassword = async (
  deps: AdminDeps,
  request: FastifyRequest,
  given: string,
): Promise<boolean> => (await withOwnPassword(deps, request, given, async () => true)) ?? false

/** As isOwnPassword, for a code of the second factor, which is used up. */
export async function isOwnCode(deps: AdminDeps, request: FastifyRequest, typed: string): Promise<boolean> {
  await takeOwnAttempt(deps, request)
  const { administratorId, email } = sessionOf(request)
  const entered = { administratorId, email, typed }
  const used = await checkCode(deps, request, entered, () => useCode(deps, administratorId, typed))
  return used !== undefined
}

/** As isOwnPassword, for the signature of a passkey. */
export async function isOwnPasskey(
  deps: AdminDeps,
  request: FastifyRequest,
  answer: string,
): Promise<boolean> {
  await takeOwnAttempt(deps, request)
  const { administratorId, email } = sessionOf(request)
  const { logger } = deps
  const isRight = await deps.db
    .transaction()
    .execute(tx => judgeSignature({ tx, request, logger, administratorId }, answer))
  if (!isRight) await noteRefused(deps, { account: email, address: request.ip }, refusedPasskey)
  return isRight
}

async function takeOwnAttempt(deps: AdminDeps, request: FastifyRequest): Promise<void> {
  const { sessionId, email } = sessionOf(request)
  const { exceeded } = await countAttempt(deps.db, 'session', String(sessionId))
  if (exceeded === undefined) return
  await noteLimited(deps, { account: email, address: request.ip }, exceeded)
  throw tooManyAttempts(exceeded)
}
