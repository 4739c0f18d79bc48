import { ownerOfToken, redeemToken } from '@tally/access'
import { isSqlState, isTransient, reasonOf, type Tx } from '@tally/platform'
import type { FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { algorithms, partyOf, webAuthn } from './asking.ts'
import { type NewPasskey, noteUse, readKnownPasskeys, transports } from './store.ts'

/** Whose passkey is judged, and the request that its answer came with. */
type Judged = {
  tx: Tx
  request: FastifyRequest
  logger: AdminDeps['logger']
  administratorId: string
  /** Of a sign-in; a session has those that were made for it. */
  challenge?: string | undefined
}

/**
 * What browsers send to a page that asks for no attestation (WebAuthn, 5.1.3). For others the library checks chains of
 * certificates, and asks the addresses that the certificates name whether they are revoked.
 */
const formats = ['none', 'packed']

/** The passkey that a browser made for an administrator; undefined if its answer is wrong. */
export async function judgeNew(judged: Judged, json: string): Promise<NewPasskey | undefined> {
  const [{ verifyRegistrationResponse }, helpers] = await Promise.all([
    webAuthn(),
    import('@simplewebauthn/server/helpers'),
  ])
  return judge(judged, async expected => {
    const response = JSON.parse(json)
    const attestation = helpers.isoBase64URL.toBuffer(response.response.attestationObject)
    const format = helpers.decodeAttestationObject(attestation).get('fmt')
    if (!formats.includes(format)) throw new Error('it has an attestation that was not asked for')
    const { registrationInfo } = await verifyRegistrationResponse({
      ...expected,
      response,
      supportedAlgorithmIDs: algorithms,
    })
    const reached = transports.parse(response.response.transports)
    return registrationInfo && { ...registrationInfo.credential, transports: reached }
  })
}

/** Whether a passkey of the administrator has signed, and its count is above its last one: else there is a copy. */
export async function judgeSignature(judged: Judged, json: string): Promise<boolean> {
  const { verifyAuthenticationResponse } = await webAuthn()
  const known = await readKnownPasskeys(judged.tx, judged.administratorId)
  const used = await judge(judged, async expected => {
    const response = JSON.parse(json)
    const credential = known.find(({ id }) => id === response.id)
    if (credential === undefined) throw new Error('this account does not have it')
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expected,
      response,
      credential,
    })
    return verified ? { credential, counter: authenticationInfo.newCounter } : undefined
  })
  if (used !== undefined) await noteUse(judged.tx, used.credential, used.counter)
  return used !== undefined
}

type Expected = {
  expectedChallenge: (challenge: string) => Promise<boolean>
  expectedOrigin: string
  expectedRPID: string
  requireUserVerification: false
}

/**
 * What `verify` makes of an answer to a challenge of the administrator; undefined if it throws, because the answer is
 * invalid. The log says why: most of it is a matter of ADMIN_URL.
 */
async function judge<Result>(
  judged: Judged,
  verify: (expected: Expected) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const { request, logger, administratorId } = judged
  const party = partyOf(request)
  try {
    if (party === undefined) throw new Error('the area has no name')
    return await verify({
      expectedChallenge: challenge => takeChallenge(judged, challenge),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
    })
  } catch (error) {
    // No answer is to blame for an error of Postgres.
    if (isTransient(error) || isSqlState((error as { code?: unknown } | null)?.code)) throw error
    logger.info({ administratorId, address: request.ip, reason: reasonOf(error) }, 'a passkey was refused')
    return undefined
  }
}

/** Takes the challenge of the sign-in, or one of the session, which is used up; throws for another one. */
async function takeChallenge({ tx, administratorId, ...judged }: Judged, challenge: string): Promise<true> {
  const isOwn =
    judged.challenge === undefined
      ? (await ownerOfToken(tx, 'passkey', challenge))?.administratorId === administratorId &&
        (await redeemToken(tx, 'passkey', challenge))
      : challenge === judged.challenge
  if (!isOwn) throw new Error('its challenge has ended, was used, or is of another account')
  return true
}
