import { isIP } from 'node:net'
import { issueToken, newToken, sha256 } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { AdminDeps } from '../deps.ts'
import { type KnownPasskey, readKnownPasskeys } from './store.ts'

/** 25 packages: loaded with the first passkey. */
export const webAuthn = () => import('@simplewebauthn/server')

/**
 * What passkeys are bound to, the name of the host, and the origin of the pages; undefined if browsers have no passkeys
 * for the area's address, because it is a number.
 */
export function partyOf({ publicUrl }: FastifyRequest): { id: string; origin: string } | undefined {
  if (publicUrl === null || isIP(publicUrl.hostname.replace(/^\[|\]$/g, ''))) return undefined
  return { id: publicUrl.hostname, origin: publicUrl.origin }
}

/** EdDSA, ES256, RS256 (RFC 9053, 8812). The library asks Node for more, which warns of experimental ones. */
export const algorithms = [-8, -7, -257]

/** After a password, it is enough that somebody touches the authenticator. */
const presence = { residentKey: 'discouraged', userVerification: 'discouraged' } as const

type Owner = { administratorId: string; email: string }

/** What a browser needs to make a passkey, as JSON; undefined at an address without a name. */
export async function askForNew(
  { db }: AdminDeps,
  request: FastifyRequest,
  { administratorId, email }: Owner,
): Promise<string | undefined> {
  const party = partyOf(request)
  if (party === undefined) return undefined
  const { generateRegistrationOptions } = await webAuthn()
  const options = await generateRegistrationOptions({
    rpName: 'Tally',
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(administratorId)),
    userName: email,
    challenge: bytesOf(await newChallenge(db, administratorId)),
    excludeCredentials: (await readKnownPasskeys(db, administratorId)).map(named),
    authenticatorSelection: presence,
    supportedAlgorithmIDs: algorithms,
  })
  return JSON.stringify(options)
}

/** What a browser needs to sign with a passkey, as JSON; undefined without one. A sign-in brings its own challenge. */
export async function askForSignature(
  { db }: AdminDeps,
  request: FastifyRequest,
  administratorId: string,
  challenge?: string,
): Promise<string | undefined> {
  const party = partyOf(request)
  const known = await readKnownPasskeys(db, administratorId)
  if (party === undefined || known.length === 0) return undefined
  const { generateAuthenticationOptions } = await webAuthn()
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: bytesOf(challenge ?? (await newChallenge(db, administratorId))),
    allowCredentials: known.map(named),
    userVerification: presence.userVerification,
  })
  return JSON.stringify(options)
}

/**
 * The challenge of a sign-in, made of the token that says who gave the right password: it can be answered once, as that
 * token, and whoever loads the page often stores nothing.
 */
export const challengeOf = (token: string): string => sha256(`passkey ${token}`).toString('base64url')

/** Of one administrator, that can be answered: whoever is signed in cannot store more by loading pages. */
const mostChallenges = 20

/** A challenge of a session is answered once, within five minutes, by the administrator for whom it was made. */
async function newChallenge(db: AdminDeps['db'], administratorId: string): Promise<string> {
  const challenge = newToken()
  await issueToken(db, { purpose: 'passkey', token: challenge, administratorId })
  await sql`
delete from one_time_tokens where token_sha256 in (
  select token_sha256 from one_time_tokens
  where administrator_id = ${administratorId} and purpose = 'passkey'
  order by ends_at desc offset ${mostChallenges}
)`.execute(db)
  return challenge
}

/** What a browser needs to find a passkey: the library sends on whatever else it gets. */
const named = ({ id, transports }: KnownPasskey) => ({ id, transports })

const bytesOf = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'))
