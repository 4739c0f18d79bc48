import { date, offsetIn } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import type { z } from 'zod'
import { type Fields, type Mistakes, textOf } from '../http/forms.ts'
import { attribute, fieldMistakes, type Html, html } from './html.ts'

/** What the forms of a new key and of a new screen link both ask for, as it was typed. */
export type Typed = { name: string; eventId: string; ends: string; lastDay: string }

export const typedIn = (fields: Fields): Typed => ({
  name: textOf(fields, 'name'),
  eventId: textOf(fields, 'eventId'),
  ends: textOf(fields, 'ends'),
  lastDay: textOf(fields, 'lastDay'),
})

/** When something may end, in milliseconds from now: null is never, undefined after a day that is typed. */
type Ends = Record<string, { name: string; ms: number | null | undefined }>

export const dayMs = 86_400_000
export const inDays: Ends = {
  day: { name: 'In 1 day', ms: dayMs },
  week: { name: 'In 7 days', ms: 7 * dayMs },
  month: { name: 'In 30 days', ms: 30 * dayMs },
}
export const afterDay: Ends = { date: { name: 'After a chosen day', ms: undefined } }

/** Checks the name, and when it ends, on the clock of the event; `mistakes` gets a message for each invalid field. */
export function readTyped(
  typed: Typed,
  { shape, ends, longestMs = 3_650 * dayMs }: { shape: z.ZodType; ends: Ends; longestMs?: number },
  { timeZone = 'UTC', nowMs }: { timeZone: string | undefined; nowMs: number },
  mistakes: Mistakes,
): { name: string; endsAt: number | null } {
  const name = typed.name.trim()
  if (!shape.safeParse(name).success)
    mistakes.name = 'Enter a name of 1 to 200 characters, without control characters.'
  const chosen = Object.hasOwn(ends, typed.ends) ? ends[typed.ends] : undefined
  if (chosen === undefined) mistakes.ends = 'Choose when it ends.'
  if (chosen?.ms != null) return { name, endsAt: nowMs + chosen.ms }
  if (chosen?.ms === null || chosen === undefined) return { name, endsAt: null }
  const parsed = date.safeParse(typed.lastDay)
  // An evening runs past midnight: what is for a day ends at noon of the next one.
  const noon = Date.parse(parsed.data ?? '') + 1.5 * dayMs
  const endsAt = noon - offsetIn(timeZone)(noon)
  if (!parsed.success) mistakes.lastDay = 'Enter the last day.'
  else if (endsAt <= nowMs) mistakes.lastDay = 'Enter a day that is not over.'
  else if (endsAt > nowMs + longestMs)
    mistakes.lastDay = `It can end at most ${longestMs / dayMs} days from now. Enter an earlier day.`
  return { name, endsAt }
}

/** The fields for these; `hint` stands under a label, and `all` is the choice of no event, if there is one. */
export function sharedFields(typed: Typed, events: ListedEvent[], ends: Ends, mistakes: Mistakes) {
  const { mistake, describedBy } = fieldMistakes(mistakes)
  return {
    name: (hint = html``): Html => html`<label for="name">Name</label>
${hint}
${mistake('name')}
<input id="name" name="name" maxlength="200" required value="${typed.name}" autocomplete="off" dir="auto"${describedBy('name')}>`,
    event: (hint = html``, all = html``): Html => html`<label for="eventId">Event</label>
${hint}
${mistake('eventId')}
<select id="eventId" name="eventId"${describedBy('eventId')}>
${all}
${events.map(event => html`<option value="${event.eventId}"${attribute('selected', event.eventId === typed.eventId)}>${event.name}</option>`)}
</select>`,
    ends: (latest = ''): Html => html`<label for="ends">Ends</label>
${mistake('ends')}
<select id="ends" name="ends"${describedBy('ends')}>
${Object.entries(ends).map(([value, { name }]) => html`<option value="${value}"${attribute('selected', value === typed.ends)}>${name}</option>`)}
</select>
<div id="last-day-part"><label for="lastDay">Last day</label>
<p class="faint">Ends at noon of the next day, on the event's clock${latest}.</p>
${mistake('lastDay')}
<input id="lastDay" name="lastDay" type="date" value="${typed.lastDay}"${describedBy('lastDay')}></div>`,
  }
}
