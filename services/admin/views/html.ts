import { html as escaping, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** A piece of a page: text in which everything that was put in is escaped. */
export type Html = HtmlEscapedString

/** Makes a piece of a page; every value is escaped, unless it is such a piece (or a list of them) itself. */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Html {
  return escaping(strings, ...values) as Html
}

/** An attribute that is there or not, such as `checked`. The name is a constant of the source. */
export const attribute = (name: 'checked' | 'selected', isThere: boolean): Html =>
  raw(isThere ? ` ${name}` : '')
