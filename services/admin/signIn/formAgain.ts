import type { FastifyRequest } from 'fastify'
import { type Fields, formFields, listOf } from '../http/forms.ts'

/**
 * The forms that take more than a moment to fill in: their pages fill them in again from their query. Never a password
 * or a code, because a query is in logs.
 */
const kept: Record<string, { page: string; fields: string[] }> = {
  '/keys': { page: '/keys/new', fields: ['name', 'scope', 'eventId', 'ends', 'lastDay'] },
  '/screens': { page: '/screens', fields: ['name', 'eventId', 'shows', 'area', 'ends', 'lastDay'] },
  '/account/people': { page: '/account/people', fields: ['email'] },
  '/sign-in': { page: '/sign-in', fields: ['next'] },
  '/sign-in/code': { page: '/sign-in/code', fields: ['next'] },
  '/confirm': { page: '/confirm', fields: ['next', 'factor'] },
}

/** Addresses of forms under these pages have no page of their own. */
const pages = [
  '/account/second-factor',
  '/account/passkeys',
  '/account/people',
  '/account',
  '/screens',
  '/operations',
]

/** A path that a page may lead to; `/` in place of one that leads to another site, as `//host` would. */
export const ownPath = (path: unknown): string =>
  typeof path === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'

/** Longer ones are not kept: Node refuses a head of 16 kB, and many proxies one of 8 kB. */
const longestQuery = 4_000

/** The page whose form is sent to this address. */
function formPageOf(url: string): string {
  if (url === '/sign-out') return '/'
  return kept[url]?.page ?? pages.find(page => url.startsWith(`${page}/`) || url === page) ?? ownPath(url)
}

/** Why a form that was sent is shown again; its page says so. */
const reasons = {
  expired: 'This form had expired. Check it and send it again.',
  again: 'Nothing was changed yet. Check the form and send it again.',
}

/** The address that shows a form again that was sent, with its fields. */
export function formAgain(request: FastifyRequest, reason: keyof typeof reasons = 'again'): string {
  const page = formPageOf(request.url)
  const fields = (kept[request.url]?.fields ?? []).flatMap(name =>
    listOf(formFields(request), name)
      .filter(value => value !== '')
      .map((value): [string, string] => [name, value]),
  )
  const query = String(new URLSearchParams([[reason, 'yes'], ...fields]))
  return `${page}?${query.length > longestQuery ? `${reason}=yes` : query}`
}

/** The address of the sign-in that leads back to a form that was sent. */
export const signInAgain = (request: FastifyRequest): string =>
  `/sign-in?ended=yes&next=${encodeURIComponent(formAgain(request))}`

/** Forms that are sent without a session. */
const isOpen = /^\/(sign-in|sign-out|reset|screen)(\/|$)/

/** Where a form is shown again whose token does not fit; who has no session any more signs in first. */
export const formAfter = (request: FastifyRequest): string =>
  request.session === undefined && !isOpen.test(request.url)
    ? signInAgain(request)
    : formAgain(request, 'expired')

/** The fields of a query, as a form has them. */
export const fieldsIn = ({ query }: FastifyRequest): Fields => query as Fields

/** What a page says of a form that it shows again. */
export const formNotice = ({ query }: FastifyRequest): string | undefined =>
  Object.entries(reasons).find(([reason]) => (query as Fields)[reason] === 'yes')?.[1]
