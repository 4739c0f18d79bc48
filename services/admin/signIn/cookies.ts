import type { FastifyReply, FastifyRequest } from 'fastify'

/** Over TLS a name with the prefix, which no other host and no plain connection can set (RFC 6265bis). */
const nameOf = ({ isSecure }: FastifyRequest) => (isSecure ? '__Host-tally_session' : 'tally_session')

const attributes = ({ isSecure }: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }) as const

/** The session's token that the browser sent. */
export const sessionToken = (request: FastifyRequest): string | undefined => request.cookies[nameOf(request)]

/** Hands the token to the browser, until it is closed or signs out; the server ends it before where it must. */
export function setSessionToken(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(nameOf(request), token, attributes(request))
}

/** Takes back the token, and the secret of the forms with it: the next one who signs in gets another. */
export function clearCookies(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameOf(request), attributes(request)).clearCookie('tally_csrf', attributes(request))
}
