import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The cookies of the area: `csrf` is the secret of the forms; `device` and those of screens outlive a session. Each
 * screen link has its own, so that two tabs of a browser show two events. Until 0.3.0 all had `screen`.
 */
type Cookie = 'session' | 'csrf' | 'oidc' | 'code' | 'device' | 'screen' | ScreenCookie
type ScreenCookie = `screen-${number}`

/** Screen links of one browser: more cookies would not fit into the headers of a request (16 KiB). */
const mostScreens = 40

/**
 * Over TLS with the prefix `__Host-`: no other host and no plain connection can set such a cookie (RFC 6265bis). A
 * browser sends a host's cookies to all of its ports, so that two installations on one host differ by their port.
 */
const nameOf = (request: FastifyRequest, cookie: Cookie) => `${plainNameOf(request, cookie)}${endOf(request)}`
const plainNameOf = ({ isSecure }: FastifyRequest, cookie: Cookie) =>
  `${isSecure ? '__Host-' : ''}tally_${cookie}`
const endOf = ({ publicUrl }: FastifyRequest) => (publicUrl?.port ? `_${publicUrl.port}` : '')

const attributes = ({ isSecure }: FastifyRequest) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }) as const

/** A cookie that the browser sent; one that 0.2.0 gave it, whose name has no port, is as good. */
export const readCookie = (request: FastifyRequest, cookie: Cookie): string | undefined =>
  request.cookies[nameOf(request, cookie)] ?? request.cookies[plainNameOf(request, cookie)]

/** The session's token that the browser sent. */
export const sessionToken = (request: FastifyRequest): string | undefined => readCookie(request, 'session')

/** Sets a cookie, for `maxAge` seconds or until it is closed. */
export function setCookie(
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

/** Sets the cookie of a screen link; forgets those of its oldest links beyond the most. */
export function setScreenCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { screenId, token, maxAge }: { screenId: number; token: string; maxAge: number },
): void {
  const [start, end] = [plainNameOf(request, 'screen-' as Cookie), endOf(request)]
  const others = Object.keys(request.cookies)
    .filter(name => name.startsWith(start) && name.endsWith(end))
    .map(name => Number(name.slice(start.length, name.length - end.length)))
    .filter(id => Number.isSafeInteger(id) && id !== screenId)
    .toSorted((one, other) => other - one)
  for (const id of others.slice(mostScreens - 1)) clearCookie(request, reply, `screen-${id}`)
  setCookie(request, reply, `screen-${screenId}`, token, maxAge)
}
