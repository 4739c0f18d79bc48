import type { ApiKey } from '@tally/access'
import type { ListedEvent } from '@tally/figures'
import { attribute, copied, type Html, html, ownWarning } from '../views/html.ts'
import { type Of, snippetsOf } from './snippets.ts'
import { keyFacts } from './state.ts'

/** The only page that shows a token; `explained` says after a rotation until when the old key works. */
export function tokenView(shown: Of & { key: ApiKey; events: ListedEvent[] }, explained = html``): Html {
  const { key, token, events } = shown
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1><bdi>${key.name}</bdi></h1>
<section class="card token" data-page="/keys/${key.keyId}">
<p class="warning" role="alert"><strong>Copy the token now.</strong> It will not be shown again after you leave this page.</p>
${explained}
${copied('Token', token)}
<dl class="facts">${keyFacts(key, events)}</dl>
<h2>Try it</h2>
${ownWarning(shown.apiUrl)}
${snippetsView(shown)}
${opensDashboard(key) ? html`<p>Or open <a href="${shown.apiUrl}/docs/dashboard/#key=${token}" target="_blank" rel="noopener">the dashboard</a> with this key.</p>` : ''}
<p><a class="button primary" href="/keys">Done, I have copied it</a></p>
</section>`
}

const opensDashboard = ({ scopes }: ApiKey): boolean =>
  scopes.includes('events:read') && scopes.includes('analytics:read')

/** The programs for a key, one of them open, each with a button that copies it (assets/buttons.js). */
export function snippetsView(shown: Of): Html {
  return html`<div class="snippets">${snippetsOf(shown).map(
    ({ id, name, hint, text }, place) => html`<details name="snippet"${attribute('open', place === 0)}>
<summary id="${id}-label">${name}</summary>
<p class="faint">${hint}</p>
<div class="copy"><code id="${id}" aria-labelledby="${id}-label">${text}</code><button type="button" data-copy="${id}">Copy</button></div>
</details>`,
  )}</div>
<p class="hidden" role="status" id="copied"></p>
<p class="faint">The device sends the token in the header <code>X-Api-Key</code>. Next: <a href="${shown.apiUrl}/docs/guide/polling" target="_blank" rel="noopener">polling well</a>.</p>`
}
