import csrf from '@fastify/csrf-protection'
import { newToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readCookie, sessionToken, setCookie } from '../signIn/cookies.ts'
import { badForm } from './problem.ts'

/** A form's fields by name; a repeated one has all its values. */
export type Fields = Record<string, string | string[] | undefined>

export const formFields = ({ body }: FastifyRequest): Fields => (body ?? {}) as Fields

/** One value of a form; empty if it is absent or repeated. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** All values of a field that may be repeated, such as checkboxes. */
export function listOf(fields: Fields, name: string): string[] {
  const value = fields[name]
  return value === undefined ? [] : [value].flat()
}

/** A message for each invalid field, by name. */
export type Mistakes = Record<string, string>

/** The number of a row in a path or a query. */
export const rowNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number)

/** Parses a form or a query that only a broken link or a forged request gets wrong. */
export function parseOr400<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw badForm()
  return parsed.data
}

/** Where the plugin looks for the secret; the browser has it under the name of cookies.ts. */
const secretKey = 'tally_csrf'

/** Whose forms they are: the session, or without one whoever has the secret. */
const ownerOf = (request: FastifyRequest): string => sessionToken(request) || 'nobody'

/**
 * The second guard against forged requests: each form carries a token that belongs to a cookie and to the session. A
 * cookie that another host of the domain planted is of no use without the session's token.
 */
export async function checkFormTokens(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async request => {
    request.cookies[secretKey] = readCookie(request, 'csrf')
  })
  await app.register(csrf, {
    cookieKey: secretKey,
    getToken: request => (request.body as { _csrf?: string } | undefined)?._csrf,
    getUserInfo: ownerOf,
    // Anybody can send forms without a token, and fill the log.
    logLevel: 'debug',
    // The session's token is what others do not know; the key only keeps this use of it apart. It must be the same in
    // every process, because one may answer the form that another one sent.
    csrfOpts: { hmacKey: 'tally forms' },
  })
}

/** The token for the forms of a page; gives the browser its secret if it has none. */
export function formToken(request: FastifyRequest, reply: FastifyReply): string {
  if (!request.cookies[secretKey]) {
    request.cookies[secretKey] = newToken()
    setCookie(request, reply, 'csrf', request.cookies[secretKey])
  }
  return reply.generateCsrf({ userInfo: ownerOf(request) })
}
