import type { ListedEvent } from '@tally/figures'
import type { Mistakes } from '../http/forms.ts'
import { sharedFields } from '../views/fields.ts'
import { moment } from '../views/format.ts'
import { attribute, fieldMistakes, type Html, html } from '../views/html.ts'
import { type LinkTyped, linkEnds } from './linkForm.ts'
import { areaName, shownNames, shownText } from './shows.ts'
import type { ScreenLink } from './store.ts'

type Listed = {
  screens: ScreenLink[]
  events: ListedEvent[]
  typed: LinkTyped
  mistakes: Mistakes
}

/** The links that work, and the form for a new one. */
export function screensView(listed: Listed): Html {
  const { screens, events } = listed
  return html`<h1>Screen links</h1>
<p class="faint">A link shows the figures of one event on a screen in a hall, and nothing else, without a sign-in.</p>
${screens.length === 0 ? html`<p class="faint">There are no screen links.</p>` : table(listed)}
${events.length === 0 ? '' : form(listed)}`
}

function table({ screens, events }: Listed): Html {
  const row = ({ eventId, ...screen }: ScreenLink): Html => {
    const { screenId, name, createdBy, createdAt, endsAt, lastSeenAt } = screen
    const event = events.find(one => one.eventId === eventId)
    return html`<tr>
<th scope="row" data-label="Name"><bdi>${name}</bdi></th>
<td data-label="Event"><bdi>${event?.name ?? eventId}</bdi></td>
<td data-label="Shows">${shownText(screen.shows, areaOf(screen, event))}</td>
<td data-label="Created">${moment(createdAt)} <span class="faint block">${createdBy}</span></td>
<td data-label="Ends">${moment(endsAt)}</td>
<td data-label="Last used">${moment(lastSeenAt)}</td>
<td><details><summary class="button danger" aria-label="Revoke ${name}">Revoke</summary>
<form method="post" action="/screens/${screenId}/revoke"><p>The screen stops within 15 seconds, and the link cannot be shown again.</p><button class="danger">Yes, revoke</button></form></details></td></tr>`
  }
  return html`<div class="card table"><table>
<caption class="hidden">Screen links</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Event</th><th scope="col">Shows</th><th scope="col">Created</th><th scope="col">Ends</th><th scope="col">Last used</th><th scope="col"><span class="hidden">Revoke</span></th></tr></thead>
<tbody>${screens.map(row)}</tbody></table></div>`
}

const areaOf = ({ areaId }: Pick<ScreenLink, 'areaId'>, event: ListedEvent | undefined) =>
  areaId === null ? undefined : areaName({ areas: event?.areas ?? [] }, areaId)

function form({ events, typed, mistakes }: Listed): Html {
  const { mistake, describedBy } = fieldMistakes(mistakes)
  const fields = sharedFields(typed, events, linkEnds, mistakes)
  const choice = ([value, { name, hint }]: [string, { name: string; hint: string }]) =>
    html`<label class="tick"><input type="radio" name="shows" value="${value}" required${attribute('checked', value === typed.shows)}>
<span><strong>${name}</strong><span class="faint">${hint}</span></span></label>`
  return html`<section class="card form"><h2>New screen link</h2>
<form method="post" action="/screens" id="new">
${fields.name()}
${fields.event()}
<fieldset${describedBy('shows')}><legend>What it shows</legend>
${mistake('shows')}
${Object.entries(shownNames).map(choice)}
</fieldset>
<div id="area-part"><label for="area">Area</label>
${mistake('area')}
<select id="area" name="area"${describedBy('area')}>
<option value="">Choose an area</option>
${events.map(areasOf(typed))}
</select></div>
${fields.ends(', and after 30 days at the latest')}
<div class="actions"><button class="primary">Create link</button></div>
</form></section>`
}

const areasOf =
  (typed: LinkTyped) =>
  ({ eventId, name, areas }: ListedEvent): Html =>
    areas.length === 0
      ? html``
      : html`<optgroup label="${name}" data-event="${eventId}">${areas.map(
          area =>
            html`<option value="${eventId}:${area.areaId}"${attribute('selected', `${eventId}:${area.areaId}` === typed.area)}>${area.name}</option>`,
        )}</optgroup>`
