import { findCredentials, isPassword, maxPasswordLength } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { tooManyAttempts } from '../http/problem.ts'
import { countAttempt } from './attempts.ts'
import { sessionOf } from './guard.ts'
import { noteLimited, noteRefused } from './refusals.ts'

/** Whether it is the password of who is signed in; throws a 429 after ten attempts of this session in 15 minutes. */
export async function isOwnPassword(
  deps: AdminDeps,
  request: FastifyRequest,
  password: string,
): Promise<boolean> {
  const { sessionId, email } = sessionOf(request)
  const refusal = { account: email, address: request.ip }
  const exceeded = await countAttempt(deps.db, 'session', String(sessionId))
  if (exceeded !== undefined) {
    await noteLimited(deps, refusal, exceeded)
    throw tooManyAttempts(exceeded)
  }
  const found = await findCredentials(deps.db, email)
  const given = password.slice(0, maxPasswordLength + 1)
  const isRight = found !== undefined && (await isPassword(given, found.passwordHash))
  if (!isRight) await noteRefused(deps, refusal)
  return isRight
}
