import { scope } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import type { Mistakes } from '../http/forms.ts'
import { attribute, type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { fieldMistakes } from '../views/mistakes.ts'
import { lifetimes, type NewKeyTyped } from './newKeyForm.ts'
import { presets } from './presets.ts'
import { scopeLines, scopeNames } from './scopes.ts'

export function newKeyView(
  typed: NewKeyTyped,
  events: ListedEvent[],
  csrf: string,
  mistakes: Mistakes = {},
): Html {
  const { mistake, describedBy } = fieldMistakes(mistakes)
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1>New key</h1>
<p class="presets">What is it for? ${presets.map(({ value, name, line }) => html`<a class="button" href="/keys/new?for=${value}" title="${line}">${name}</a> `)}</p>
<form method="post" action="/keys" class="card form">
${csrfField(csrf)}
<label for="name">Name</label>
<p class="faint" id="name-hint">What the key is for, such as “Kitchen screen”.</p>
${mistake('name')}
<input id="name" name="name" maxlength="200" required value="${typed.name}" autocomplete="off" dir="auto"${describedBy('name')}>
<fieldset${describedBy('scope')}><legend>Scopes</legend>
${mistake('scope')}
${scope.options.map(
  one => html`<label class="tick"><input type="checkbox" name="scope" value="${one}"${attribute('checked', typed.scopes.includes(one))}>
<span><strong>${scopeNames[one]}</strong> <span class="faint">(${one})</span><span class="faint">${scopeLines[one]}</span></span></label>`,
)}
</fieldset>
<label for="eventId">Event</label>
<p class="faint">Bind the key of a device to its event: if the key leaks, it exposes nothing else.</p>
${mistake('eventId')}
<select id="eventId" name="eventId"${describedBy('eventId')}>
<option value="">All events</option>
${events.map(event => html`<option value="${event.eventId}"${attribute('selected', event.eventId === typed.eventId)}>${event.name}</option>`)}
</select>
<label for="expires">Expires</label>
${mistake('expires')}
<select id="expires" name="expires"${describedBy('expires')}>
${Object.entries(lifetimes).map(([value, { name }]) => html`<option value="${value}"${attribute('selected', value === typed.expires)}>${name}</option>`)}
</select>
<div class="actions"><button class="primary">Create key</button><a class="button quiet" href="/keys">Cancel</a></div>
</form>`
}
