import type { ApiKey } from '@tally/access'
import type { EventId } from '@tally/contract'
import { copied } from '../views/copy.ts'
import { type Html, html } from '../views/html.ts'
import { snippetsOf } from './snippets.ts'
import { snippetsView } from './snippetsView.ts'

type Shown = {
  key: ApiKey
  token: string
  apiUrl: string
  anyEvent: EventId | undefined
  /** After a rotation, until when the old key works. */
  explained?: Html
}

/** The only page that shows a token. */
export function tokenView({ explained, ...of }: Shown): Html {
  const { key, token, apiUrl } = of
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1><bdi>${key.name}</bdi></h1>
<section class="card token" data-page="/keys/${key.keyId}">
<p class="warning" role="alert"><strong>Copy the token now.</strong> It will not be shown again after you leave this page.</p>
${explained ?? ''}
${copied('Token', token)}
<h2>Try it</h2>
${snippetsView(snippetsOf(of), apiUrl)}
<p><a class="button primary" href="/keys">Done, I have copied it</a></p>
</section>`
}
