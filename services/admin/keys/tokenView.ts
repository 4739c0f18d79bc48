import type { ApiKey } from '@tally/access'
import { type Html, html } from '../views/html.ts'

/** The only page that shows a token. After a rotation, `explained` says until when the old key works. */
export function tokenView(key: ApiKey, token: string, curl: string, explained?: Html): Html {
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1>${key.name}</h1>
<section class="card token" data-page="/keys/${key.keyId}">
<p class="warning" role="alert"><strong>Copy the token now.</strong> It will not be shown again after you leave this page.</p>
${explained ?? ''}
<h2 id="token-label">Token</h2>
<div class="copy"><code id="token" aria-labelledby="token-label">${token}</code><button type="button" data-copy="token">Copy</button></div>
<h2 id="curl-label">Try it</h2>
<div class="copy"><code id="curl" aria-labelledby="curl-label">${curl}</code><button type="button" data-copy="curl">Copy</button></div>
<p class="hidden" role="status" id="copied"></p>
<p class="faint">The device sends the token in the header <code>X-Api-Key</code>.</p>
<p><a class="button primary" href="/keys">Done, I have copied it</a></p>
</section>`
}
