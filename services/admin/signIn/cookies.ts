import type { FastifyReply, FastifyRequest } from 'fastify'

/** The cookies of the area: `csrf` is the secret of the forms; `device` and `screen` outlive a session. */
type Cookie = 'session' | 'csrf' | 'oidc' | 'code' | 'device' | 'screen'

/** Over TLS with the prefix `__Host-`: no other host and no plain connection can set such a cookie (RFC 6265bis). */
const nameOf = ({ isSecure }: FastifyRequest, cookie: Cookie) =>
  `${isSecure ? '__Host-' : ''}tally_${cookie}` as const

const attributes = ({ isSecure }: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }) as const

/** A cookie that the browser sent. */
export const readCookie = (request: FastifyRequest, cookie: Cookie): string | undefined =>
  request.cookies[nameOf(request, cookie)]

/** The session's token that the browser sent. */
export const sessionToken = (request: FastifyRequest): string | undefined => readCookie(request, 'session')

/** Gives the browser a cookie, for `maxAge` seconds or until it is closed. */
export function giveCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: Cookie,
  value: string,
  maxAge?: number,
): void {
  reply.setCookie(nameOf(request, cookie), value, {
    ...attributes(request),
    ...(maxAge === undefined ? {} : { maxAge }),
  })
}

export function clearCookie(request: FastifyRequest, reply: FastifyReply, cookie: Cookie): void {
  reply.clearCookie(nameOf(request, cookie), attributes(request))
}

/** Clears the session and the secret of the forms: the next user to sign in gets another one. */
export function clearCookies(request: FastifyRequest, reply: FastifyReply): void {
  clearCookie(request, reply, 'session')
  clearCookie(request, reply, 'csrf')
}
