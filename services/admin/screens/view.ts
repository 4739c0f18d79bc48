import type { ListedEvent } from '@tally/read-models'
import { eventName } from '../keys/events.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import type { ScreenLink } from './store.ts'

/** The links that work, and the form for a new one. */
export function screensView(screens: ScreenLink[], events: ListedEvent[], csrf: string): Html {
  return html`<p class="crumb"><a href="/live">Live</a></p>
<h1>Screen links</h1>
<p class="faint">A link shows the live screen of one event and nothing else, without a sign-in, for 30 days.</p>
${screens.length === 0 ? html`<section class="card empty"><p class="big">No screen links</p></section>` : table(screens, events, csrf)}
${events.length === 0 ? '' : form(events, csrf)}`
}

function table(screens: ScreenLink[], events: ListedEvent[], csrf: string): Html {
  return html`<div class="card table"><table>
<caption class="hidden">Screen links</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Event</th><th scope="col">Created</th><th scope="col">Ends</th><th scope="col">Last used</th><th scope="col"><span class="hidden">Revoke</span></th></tr></thead>
<tbody>${screens.map(
    ({ screenId, name, eventId, createdBy, createdAt, endsAt, lastSeenAt }) => html`<tr>
<th scope="row" data-label="Name">${name}</th>
<td data-label="Event">${eventName(events, eventId)}</td>
<td data-label="Created">${moment(createdAt)} <span class="faint block">${createdBy}</span></td>
<td data-label="Ends">${moment(endsAt)}</td>
<td data-label="Last used">${moment(lastSeenAt)}</td>
<td><form method="post" action="/screens/${screenId}/revoke">${csrfField(csrf)}<button class="danger" aria-label="Revoke ${name}">Revoke</button></form></td></tr>`,
  )}</tbody></table></div>`
}

function form(events: ListedEvent[], csrf: string): Html {
  return html`<section class="card form"><h2>New screen link</h2>
<form method="post" action="/screens">${csrfField(csrf)}
<label for="name">Name</label>
<input id="name" name="name" maxlength="200" required autocomplete="off">
<label for="eventId">Event</label>
<select id="eventId" name="eventId">
${events.map(event => html`<option value="${event.eventId}">${event.name}</option>`)}
</select>
<div class="actions"><button class="primary">Create link</button></div>
</form></section>`
}

/** A new link, which is shown only here. */
export function madeView(name: string, event: string, link: string): Html {
  return html`<p class="crumb"><a href="/screens">Screen links</a></p>
<h1>${name}</h1>
<section class="card token" data-page="/screens">
<p class="warning" role="alert"><strong>Open this link once on the screen that shows ${event}.</strong> It will not be shown again after you leave this page.</p>
<h2 id="token-label">Link</h2>
<div class="copy"><code id="token" aria-labelledby="token-label">${link}</code><button type="button" data-copy="token">Copy</button></div>
<p class="hidden" role="status" id="copied"></p>
<p><a class="button primary" href="/screens">Done</a></p>
</section>`
}
