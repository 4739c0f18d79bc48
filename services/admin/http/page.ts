import type { FastifyReply, FastifyRequest } from 'fastify'
import { formNotice } from '../signIn/formAgain.ts'
import { layout, type Page } from '../views/layout.ts'
import { compress, encodingOf, sendCompressed } from './compression.ts'
import { formToken } from './forms.ts'
import { localeOf } from './locale.ts'

/**
 * Sends a page, with the navigation if the user is signed in, and with what happened to a form that it shows again. A
 * function gets the CSRF token for its forms.
 */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page | ((csrf: string) => Page),
): FastifyReply {
  const csrf = formToken(request, reply)
  const given = typeof page === 'function' ? page(csrf) : page
  const made = { ...given, notice: given.notice ?? formNotice(request) }
  const { session, server } = request
  const text = layout(made, { session, csrf, locale: localeOf(request), apiUrl: server.apiUrl }).toString()
  reply.type('text/html; charset=utf-8')
  if (!made.isCompressed) return reply.send(text)
  const encoding = encodingOf(request)
  return sendCompressed(reply, { encoding, bytes: compress(encoding, Buffer.from(text), true) })
}
