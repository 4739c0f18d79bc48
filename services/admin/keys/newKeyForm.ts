import { keyName, type NewKey } from '@tally/access'
import { type EventId, eventId, type OrganizationId, scope } from '@tally/contract'
import { currentDay, type ListedEvent } from '@tally/figures'
import { type Fields, listOf, type Mistakes, textOf } from '../http/forms.ts'
import { attribute, fieldMistakes, type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { scopeLines, scopeNames } from './state.ts'

/** What was typed, to show it again with what is wrong. */
type NewKeyTyped = { name: string; scopes: string[]; eventId: string; expires: string }

const nothingTyped: NewKeyTyped = { name: '', scopes: [], eventId: '', expires: 'never' }

/** The lifetimes that the form offers. */
const lifetimes: Record<string, { name: string; ms: number | null }> = {
  never: { name: 'Never', ms: null },
  day: { name: 'In 1 day', ms: 24 * 3_600_000 },
  week: { name: 'In 7 days', ms: 7 * 24 * 3_600_000 },
  month: { name: 'In 30 days', ms: 30 * 24 * 3_600_000 },
  year: { name: 'In 1 year', ms: 365 * 24 * 3_600_000 },
}

export const typedOf = (fields: Fields): NewKeyTyped => ({
  name: textOf(fields, 'name'),
  scopes: listOf(fields, 'scope'),
  eventId: textOf(fields, 'eventId'),
  expires: textOf(fields, 'expires'),
})

/** The key that a form asks for, or a message for each invalid field (docs/api.md, Tokens). */
export function readNewKey(
  typed: NewKeyTyped,
  organizationId: OrganizationId,
  events: ListedEvent[],
  nowMs: number,
): { wanted: NewKey } | { mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const parsedName = keyName.safeParse(typed.name.trim())
  if (!parsedName.success) mistakes.name = 'Enter a name of 1 to 200 characters, without control characters.'
  const parsedScopes = scope.array().min(1).safeParse(typed.scopes)
  if (!parsedScopes.success) mistakes.scope = 'Select at least one scope.'
  const parsedEvent = typed.eventId === '' ? null : eventId.safeParse(typed.eventId).data
  const isOwn = parsedEvent === null || events.some(event => event.eventId === parsedEvent)
  if (parsedEvent === undefined || !isOwn) mistakes.eventId = 'Choose one of your events, or all events.'
  const lifetime = Object.hasOwn(lifetimes, typed.expires) ? lifetimes[typed.expires] : undefined
  if (lifetime === undefined) mistakes.expires = 'Choose when it ends.'
  if (Object.keys(mistakes).length > 0) return { mistakes }
  return {
    wanted: {
      organizationId,
      name: parsedName.data ?? '',
      scopes: scope.options.filter(one => parsedScopes.data?.includes(one)),
      eventId: parsedEvent ?? null,
      expiresAt: lifetime?.ms == null ? null : nowMs + lifetime.ms,
    },
  }
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
  if (preset === undefined)
    return { ...typedOf(fields), expires: textOf(fields, 'expires') || nothingTyped.expires }
  const open: EventId | undefined = events.find(({ days }) => currentDay(days) !== undefined)?.eventId
  return { ...nothingTyped, scopes: preset.scopes, eventId: open ?? '' }
}

export function newKeyView(
  typed: NewKeyTyped,
  events: ListedEvent[],
  csrf: string,
  mistakes: Mistakes = {},
): Html {
  const { mistake, describedBy } = fieldMistakes(mistakes)
  return html`<p class="crumb"><a href="/keys">API keys</a></p>
<h1>New key</h1>
<p class="plain">What is it for? ${presets.map(({ value, name, line }) => html`<a class="button" href="/keys/new?for=${value}" title="${line}">${name}</a> `)}</p>
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
<label for="expires">Ends</label>
${mistake('expires')}
<select id="expires" name="expires"${describedBy('expires')}>
${Object.entries(lifetimes).map(([value, { name }]) => html`<option value="${value}"${attribute('selected', value === typed.expires)}>${name}</option>`)}
</select>
<div class="actions"><button class="primary">Create key</button><a class="button quiet" href="/keys">Cancel</a></div>
</form>`
}
