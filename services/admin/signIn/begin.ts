import { type Action, noteOf } from '@tally/access'
import type { Tx } from '@tally/platform'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { clearCookies, sessionToken, setCookie } from './cookies.ts'
import { giveDevice } from './devices.ts'
import { beginSession, endSession, type OidcProof } from './sessions.ts'

type Beginning = {
  action: Action
  /** Of a sign-in through the OpenID provider; any other is a proof just now. */
  oidc?: OidcProof
  /** Whether the second factor was proven just now. */
  isFactorProven?: boolean
  /** Runs first, in the same transaction. */
  before?: (tx: Tx) => Promise<void>
}

/** Begins a session for an administrator, with an audit entry; ends the one that the browser may have. */
export async function startSession(
  { db, recall, metrics }: AdminDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { administratorId, email }: { administratorId: string; email: string },
  { action, before, ...proven }: Beginning,
): Promise<void> {
  const last = sessionToken(request)
  const browser = (request.headers['user-agent'] ?? '').slice(0, 200)
  const address = request.ip
  const token = await db.transaction().execute(async tx => {
    await before?.(tx)
    if (last !== undefined) await endSession(tx, last)
    await noteOf(tx, { email, address }, { action })
    return beginSession(tx, administratorId, { address, browser, ...proven })
  })
  recall.forget(administratorId, last)
  if (action !== 'password-changed') metrics.signIns.inc({ outcome: 'signed-in' })
  clearCookies(request, reply)
  setCookie(request, reply, 'session', token)
  await giveDevice(db, request, reply, administratorId)
}
