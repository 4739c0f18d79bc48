import { attribute, type Html, html } from '../views/html.ts'
import type { Snippet } from './snippets.ts'

/** The programs for a key, one of them open, each with a button that copies it (assets/copy.js). */
export function snippetsView(snippets: Snippet[], apiUrl: string): Html {
  return html`<div class="snippets">${snippets.map(
    ({ id, name, hint, text }, place) => html`<details name="snippet"${attribute('open', place === 0)}>
<summary id="${id}-label">${name}</summary>
<p class="faint">${hint}</p>
<div class="copy"><code id="${id}" aria-labelledby="${id}-label">${text}</code><button type="button" data-copy="${id}">Copy</button></div>
</details>`,
  )}</div>
<p class="hidden" role="status" id="copied"></p>
<p class="faint">The device sends the token in the header <code>X-Api-Key</code>. Next: <a href="${apiUrl}/docs/guide/polling">polling well</a>.</p>`
}
