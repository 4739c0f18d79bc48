import { type Action, note } from '@tally/access'
import type { Tx } from '@tally/storage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { clearCookies, giveCookie, readCookie, sessionToken } from './cookies.ts'
import { rememberDevice, rememberedDays } from './devices.ts'
import { beginSession, endSession, findSession, type OidcProof } from './sessions.ts'

/** How a session begins. */
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
export async function openSession(
  { db }: AdminDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  administratorId: string,
  { action, oidc, isFactorProven, before }: Beginning,
): Promise<void> {
  const last = sessionToken(request)
  const browser = (request.headers['user-agent'] ?? '').slice(0, 200)
  const token = await db.transaction().execute(async tx => {
    await before?.(tx)
    if (last !== undefined) await endSession(tx, last)
    const token = await beginSession(tx, administratorId, {
      address: request.ip,
      browser,
      oidc,
      isFactorProven,
    })
    const session = await findSession(tx, token)
    if (session === undefined) throw new Error('a session disappeared right after it began')
    await note(tx, { ...session, address: request.ip }, { action })
    return token
  })
  clearCookies(request, reply)
  giveCookie(request, reply, 'session', token)
  await giveDevice(db, request, reply, administratorId)
}

/** Remembers the browser of someone who proved who they are. */
export async function giveDevice(
  db: AdminDeps['db'],
  request: FastifyRequest,
  reply: FastifyReply,
  administratorId: string,
): Promise<void> {
  const device = await rememberDevice(db, administratorId, readCookie(request, 'device'))
  giveCookie(request, reply, 'device', device, rememberedDays * 86_400)
}
