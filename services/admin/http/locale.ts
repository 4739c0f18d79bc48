import type { FastifyRequest } from 'fastify'
import { parseAccept } from 'hono/utils/accept'
import { type Format, formatIn } from '../views/format.ts'

/** Without a wish of the viewer, or with none that Node knows. */
const fallback = 'en'

/** A viewer has a few languages; Intl is asked for no more. */
const mostTags = 10

/**
 * The locale in which a viewer reads money, numbers and dates: the one that Accept-Language prefers among those that
 * Intl knows, without its extensions; `en` if there is none. The texts of the area are English in every locale.
 */
export function localeOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const wishes = parseAccept(headers['accept-language'] ?? '').filter(({ q }) => q > 0)
  const locales = wishes.slice(0, mostTags).map(({ type }) => known(type))
  return locales.find(locale => locale !== undefined) ?? fallback
}

/** The format of figures in the viewer's locale. */
export const formatOf = (request: Pick<FastifyRequest, 'headers'>): Format => formatIn(localeOf(request))

function known(tag: string): string | undefined {
  try {
    const { baseName } = new Intl.Locale(tag)
    return Intl.NumberFormat.supportedLocalesOf(baseName)[0]
  } catch {
    return undefined
  }
}
