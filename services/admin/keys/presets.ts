import type { EventId } from '@tally/contract'
import { currentDay, type ListedEvent } from '@tally/figures'
import { type Fields, textOf } from '../http/forms.ts'
import { type NewKeyTyped, nothingTyped, typedOf } from './newKeyForm.ts'

/** What most keys are for, with the scopes that it takes. */
export const presets: { value: string; name: string; line: string; scopes: string[] }[] = [
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
