import { raw } from 'hono/html'
import { type Html, html } from './html.ts'

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
