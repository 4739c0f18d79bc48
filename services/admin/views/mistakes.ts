import type { Mistakes } from '../http/forms.ts'
import { type Html, html } from './html.ts'

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
