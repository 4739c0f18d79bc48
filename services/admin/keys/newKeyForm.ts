import { keyName, type NewKey } from '@tally/access'
import { eventId, type OrganizationId, scope } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import { type Fields, listOf, type Mistakes, textOf } from '../http/forms.ts'

/** What was typed, to show it again with what is wrong. */
export type NewKeyTyped = { name: string; scopes: string[]; eventId: string; expires: string }

export const nothingTyped: NewKeyTyped = { name: '', scopes: [], eventId: '', expires: 'never' }

/** The lifetimes that the form offers. */
export const lifetimes: Record<string, { name: string; ms: number | null }> = {
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
  if (lifetime === undefined) mistakes.expires = 'Choose an expiry.'
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
