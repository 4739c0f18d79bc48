import { z } from 'zod'

const base64url = z.string().regex(/^[\w-]+$/)
const clientData = z.object({ challenge: base64url })
const shared = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
}

/** A new passkey, as `toJSON()` of a browser says it; what else a browser sends is left out. */
export const newAnswer = z.object({
  ...shared,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(10).default([]),
  }),
})

/** The signature of a passkey. */
export const signedAnswer = z.object({
  ...shared,
  response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
})

/** An answer, and the challenge that it says it is for; throws if it is neither. */
export function readAnswer<Answer extends { response: { clientDataJSON: string } }>(
  schema: z.ZodType<Answer>,
  json: string,
): { answer: Answer; challenge: string } {
  const answer = schema.parse(JSON.parse(json))
  const { challenge } = clientData.parse(
    JSON.parse(Buffer.from(answer.response.clientDataJSON, 'base64url').toString()),
  )
  return { answer, challenge }
}
