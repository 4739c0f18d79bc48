import { html as escaping, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Mistakes } from '../http/forms.ts'

/** A piece of a page, in which all values are escaped. */
export type Html = HtmlEscapedString

/** Makes a piece of a page. Every value is escaped, unless it is such a piece itself (or a list of them). */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Html {
  return escaping(strings, ...values) as Html
}

/** A boolean attribute. */
export const attribute = (name: 'checked' | 'hidden' | 'open' | 'selected', isThere: boolean): Html =>
  raw(isThere ? ` ${name}` : '')

/** An element as the browser's scripts make it (assets/tree.js). */
export type Tree = string | { name: string; attributes: Record<string, string | undefined>; children: Tree[] }

/** Trees as a piece of a page: texts and values of attributes are escaped; names are constants of the scripts. */
export const htmlOf = (trees: Tree[]): Html => html`${trees.map(elementOf)}`

function elementOf(tree: Tree): Html | string {
  if (typeof tree === 'string') return tree
  const { name, attributes, children } = tree
  const written = Object.entries(attributes).map(([attribute, value]) =>
    value === undefined ? '' : html` ${raw(attribute)}="${value}"`,
  )
  return html`<${raw(name)}${written}>${children.map(elementOf)}</${raw(name)}>`
}

/** A text that is shown only once, under its heading, with a button that copies it (assets/token.js). */
export const copied = (heading: string, text: string): Html => html`<h2 id="token-label">${heading}</h2>
<div class="copy"><code id="token" aria-labelledby="token-label">${text}</code><button type="button" data-copy="token">Copy</button></div>`

const ownAddress = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/

/** A warning for whoever passes on an address that leads every device to itself. */
export const ownWarning = (address: string): Html | string =>
  ownAddress.test(address)
    ? html`<p class="warning">The address works on this computer only. Another one needs an address that it can reach instead of <code>${new URL(address).host}</code>.</p>`
    : ''

/**
 * What the fields of a form show of their mistakes: `mistake` is the message of a field, to stand before it, and
 * `describedBy` the attributes that tie the field to it; both are empty for a field without one.
 */
export function fieldMistakes(mistakes: Mistakes) {
  return {
    mistake: (field: string): Html =>
      mistakes[field] === undefined
        ? html``
        : html`<p class="mistake" id="${field}-mistake" role="alert">${mistakes[field]}</p>`,
    describedBy: (field: string): Html =>
      mistakes[field] === undefined ? html`` : html` aria-invalid="true" aria-describedby="${field}-mistake"`,
  }
}
