import type { FastifyReply, FastifyRequest } from 'fastify'
import { formNotice } from '../signIn/formAgain.ts'
import { layout, type Page } from '../views/layout.ts'
import { compress, encodingOf, sendCompressed } from './compression.ts'
import { formToken } from './forms.ts'
import { localeOf } from './locale.ts'

/**
 * Sends a page: with the navigation if the user is signed in, with what happened to a form that it shows again, and
 * with the token in each form that posts.
 */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  const { session, server, url } = request
  const made = { ...page, notice: page.notice ?? formNotice(request) }
  const whole = layout(made, { session, url, locale: localeOf(request), apiUrl: server.apiUrl }).toString()
  const field = `<input type="hidden" name="_csrf" value="${formToken(request, reply)}">`
  // Values are escaped: none of them is a form, or ends its tag.
  const text = whole.replaceAll(/<form [^>]*method="post"[^>]*>/g, form => form + field)
  reply.type('text/html; charset=utf-8')
  if (!page.isCompressed) return reply.send(text)
  const encoding = encodingOf(request)
  return sendCompressed(reply, { encoding, bytes: compress(encoding, Buffer.from(text), true) })
}
