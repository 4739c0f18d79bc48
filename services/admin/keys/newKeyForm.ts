import { keyName, type NewKey } from '@tally/access'
import { type OrganizationId, scope } from '@tally/contract'
import { currentDay, type ListedEvent } from '@tally/figures'
import { type Fields, listOf, type Mistakes } from '../http/forms.ts'
import { afterDay, dayMs, inDays, readTyped, sharedFields, type Typed, typedIn } from '../views/fields.ts'
import { attribute, fieldMistakes, type Html, html } from '../views/html.ts'
import type { Page } from '../views/layout.ts'
import { scopeLines, scopeNames } from './state.ts'

/** What was typed, to show it again with what is wrong. */
type NewKeyTyped = Typed & { scopes: string[] }

/** When a key may end. */
const ends = {
  never: { name: 'Never', ms: null },
  ...inDays,
  year: { name: 'In 1 year', ms: 365 * dayMs },
  ...afterDay,
}

export const typedOf = (fields: Fields): NewKeyTyped => ({
  ...typedIn(fields),
  scopes: listOf(fields, 'scope'),
})

/** The key that a form asks for, or a message for each invalid field (docs/api.md, Tokens). */
export function readNewKey(
  typed: NewKeyTyped,
  organizationId: OrganizationId,
  events: ListedEvent[],
  nowMs: number,
): { wanted: NewKey } | { mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const scopes = scope.options.filter(one => typed.scopes.includes(one))
  if (!scope.array().min(1).safeParse(typed.scopes).success) mistakes.scope = 'Select at least one scope.'
  const event = events.find(({ eventId }) => eventId === typed.eventId)
  if (event === undefined && typed.eventId !== '')
    mistakes.eventId = 'Choose one of your events, or all events.'
  const clock = { timeZone: (event ?? events[0])?.timeZone, nowMs }
  const { name, endsAt } = readTyped(typed, { shape: keyName, ends }, clock, mistakes)
  if (Object.keys(mistakes).length > 0) return { mistakes }
  return { wanted: { organizationId, name, scopes, eventId: event?.eventId ?? null, expiresAt: endsAt } }
}

/** What most keys are for, with the scopes that it takes. */
const presets: { value: string; name: string; line: string; scopes: string[] }[] = [
  {
    value: 'device',
    name: 'Device',
    line: 'a display, a light, a till’s counter',
    scopes: ['analytics:read'],
  },
  {
    value: 'dashboard',
    name: 'Dashboard',
    line: 'a page or a program with several figures',
    scopes: ['events:read', 'analytics:read'],
  },
]

/** The form as its address fills it in: as it was sent (signIn/formAgain.ts), or a preset for the open event. */
export function typedBefore(fields: Fields, events: ListedEvent[]): NewKeyTyped {
  const preset = presets.find(({ value }) => value === fields.for)
  if (preset === undefined) return typedOf({ ends: 'never', ...fields })
  const open = events.find(({ days }) => currentDay(days) !== undefined)?.eventId
  return typedOf({ ends: 'never', scope: preset.scopes, eventId: open })
}

/** The page of a form. */
export const newKeyPage = (typed: NewKeyTyped, events: ListedEvent[], mistakes: Mistakes = {}): Page => ({
  title: 'New key',
  script: 'newForm.js',
  body: newKeyView(typed, events, mistakes),
})

function newKeyView(typed: NewKeyTyped, events: ListedEvent[], mistakes: Mistakes): Html {
  const { mistake, describedBy } = fieldMistakes(mistakes)
  const fields = sharedFields(typed, events, ends, mistakes)
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1>New key</h1>
<p class="plain">What is it for? ${presets.map(({ value, name, line }) => html`<a class="button" href="/keys/new?for=${value}" title="${line}">${name}</a> `)}</p>
<form method="post" action="/keys" class="card form" id="new">
${fields.name(html`<p class="faint">What the key is for, such as “Kitchen screen”.</p>`)}
<fieldset${describedBy('scope')}><legend>Scopes</legend>
${mistake('scope')}
${scope.options.map(
  one => html`<label class="tick"><input type="checkbox" name="scope" value="${one}"${attribute('checked', typed.scopes.includes(one))}>
<span><strong>${scopeNames[one]}</strong> <span class="faint">(${one})</span><span class="faint">${scopeLines[one]}</span></span></label>`,
)}
</fieldset>
${fields.event(
  html`<p class="faint">Bind the key of a device to its event: if the key leaks, it exposes nothing else.</p>`,
  html`<option value="">All events</option>`,
)}
${fields.ends()}
<div class="actions"><button class="primary">Create key</button><a class="button quiet" href="/keys">Cancel</a></div>
</form>`
}
