import type { FastifyReply, FastifyRequest } from 'fastify'

/** Over TLS with the prefix `__Host-`: no other host and no plain connection can set such a cookie (RFC 6265bis). */
const nameOf = ({ isSecure }: FastifyRequest) => (isSecure ? '__Host-tally_session' : 'tally_session')

const attributes = ({ isSecure }: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }) as const

/** The session token that the browser sent. */
export const sessionToken = (request: FastifyRequest): string | undefined => request.cookies[nameOf(request)]

/** Gives the browser the token until it is closed; the session itself ends earlier if it must. */
export function setSessionToken(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(nameOf(request), token, attributes(request))
}

/** Clears the token and the secret of the forms: the next user to sign in gets another one. */
export function clearCookies(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameOf(request), attributes(request)).clearCookie('tally_csrf', attributes(request))
}
