import { html as escaping, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** A piece of a page, in which all values are escaped. */
export type Html = HtmlEscapedString

/** Makes a piece of a page. Every value is escaped, unless it is such a piece itself (or a list of them). */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Html {
  return escaping(strings, ...values) as Html
}

/** A boolean attribute. */
export const attribute = (name: 'checked' | 'hidden' | 'open' | 'selected', isThere: boolean): Html =>
  raw(isThere ? ` ${name}` : '')
