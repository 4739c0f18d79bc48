import { type Html, html } from './html.ts'

/** A text that is shown only once, under its heading, with a button that copies it (assets/token.js). */
export const copied = (heading: string, text: string): Html => html`<h2 id="token-label">${heading}</h2>
<div class="copy"><code id="token" aria-labelledby="token-label">${text}</code><button type="button" data-copy="token">Copy</button></div>`
