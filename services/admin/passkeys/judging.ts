import { ownerOfToken, useToken } from '@tally/access'
import { reasonOf } from '@tally/runtime'
import type { Tx } from '@tally/storage'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { newAnswer, readAnswer, signedAnswer } from './answers.ts'
import { algorithms, type Party, partyOf, webAuthn } from './asking.ts'
import { type NewPasskey, noteUse, readKnownPasskeys } from './store.ts'

/** Whose passkey is judged, and the request that its answer came with. */
export type Judged = {
  tx: Tx
  request: FastifyRequest
  logger: AdminDeps['logger']
  administratorId: string
  /** Of a sign-in; a session has those that were made for it. */
  challenge?: string
}

/** The passkey that a browser made for an administrator; undefined if its answer is wrong. */
export async function judgeNew(judged: Judged, json: string): Promise<NewPasskey | undefined> {
  const { verifyRegistrationResponse } = await webAuthn()
  return judge(judged, newAnswer, json, async ({ response, ...expected }) => {
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      ...expected,
      supportedAlgorithmIDs: algorithms,
    })
    return registrationInfo && { ...registrationInfo.credential, transports: response.response.transports }
  })
}

/**
 * Whether a browser signed with a passkey of the administrator, whose count is above that of its last use: else there
 * is a copy of it.
 */
export async function judgeSignature(judged: Judged, json: string): Promise<boolean> {
  const { verifyAuthenticationResponse } = await webAuthn()
  const known = await readKnownPasskeys(judged.tx, judged.administratorId)
  const used = await judge(judged, signedAnswer, json, async ({ response, ...expected }) => {
    const credential = known.find(({ id }) => id === response.id)
    if (credential === undefined) throw new Error('this account does not have it')
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...expected,
      credential,
    })
    return verified ? { credential, counter: authenticationInfo.newCounter } : undefined
  })
  if (used === undefined) return false
  await noteUse(judged.tx, used.credential, used.counter)
  return true
}

/** What an answer is verified with. */
type Expected<Answer> = {
  response: Answer
  expectedChallenge: string
  expectedOrigin: string
  expectedRPID: string
  requireUserVerification: false
}

/**
 * What `verify` makes of an answer to a challenge of the administrator; undefined if it is invalid. The log says why:
 * most of it is a matter of ADMIN_URL.
 */
async function judge<Answer extends { response: { clientDataJSON: string } }, Result>(
  judged: Judged,
  schema: z.ZodType<Answer>,
  json: string,
  verify: (expected: Expected<Answer>) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const { request, logger, administratorId } = judged
  const refuse = (reason: string) => {
    logger.info({ administratorId, address: request.ip, reason }, 'a passkey was refused')
    return undefined
  }
  const party = partyOf(request)
  if (party === undefined) return refuse('the area has no name')
  const read = attempt(() => readAnswer(schema, json))
  if (read === undefined) return refuse('its answer is malformed')
  if (!(await takeChallenge(judged, read.challenge)))
    return refuse('its challenge has ended, was used, or is of another account')
  return verify(expectedOf(party, read)).catch(error => refuse(reasonOf(error)))
}

const expectedOf = <Answer>(
  party: Party,
  { answer, challenge }: { answer: Answer; challenge: string },
): Expected<Answer> => ({
  response: answer,
  expectedChallenge: challenge,
  expectedOrigin: party.origin,
  expectedRPID: party.id,
  requireUserVerification: false,
})

/** Whether a challenge is the sign-in's, or one of the session, which is used up. */
async function takeChallenge(judged: Judged, challenge: string): Promise<boolean> {
  if (judged.challenge !== undefined) return challenge === judged.challenge
  const { tx, administratorId } = judged
  const owner = await ownerOfToken(tx, 'passkey', challenge)
  return owner?.administratorId === administratorId && useToken(tx, 'passkey', challenge)
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
