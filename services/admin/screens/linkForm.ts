import { date, name as nameShape, offsetIn } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import { type Fields, type Mistakes, textOf } from '../http/forms.ts'
import { showsOf } from './shows.ts'
import type { NewScreen } from './store.ts'

/** What was typed, to show it again with what is wrong. `area` is `EVENT:AREA`, because a form has all events. */
export type LinkTyped = {
  name: string
  eventId: string
  shows: string
  area: string
  validity: string
  lastDay: string
}

export const typedOf = (fields: Fields): LinkTyped => ({
  name: textOf(fields, 'name'),
  eventId: textOf(fields, 'eventId'),
  shows: textOf(fields, 'shows'),
  area: textOf(fields, 'area'),
  validity: textOf(fields, 'validity'),
  lastDay: textOf(fields, 'lastDay'),
})

/**
 * The form as it was sent before, by the query of its page (signIn/formAgain.ts). Nothing is chosen of what it shows:
 * money on a wall must be somebody's choice.
 */
export const typedBefore = (fields: Fields): LinkTyped => ({
  ...typedOf(fields),
  validity: textOf(fields, 'validity') || 'month',
})

/** What a form asks for: `area` is the name of a kitchen's area. */
type Wanted = Pick<NewScreen, 'eventId' | 'name' | 'shows' | 'areaId' | 'endsAt'> & {
  event: ListedEvent
  area: string | undefined
}

/** The link that a form asks for, or a message for each invalid field. */
export function readLink(
  typed: LinkTyped,
  events: ListedEvent[],
  nowMs: number,
): { wanted: Wanted } | { mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const name = nameShape.safeParse(typed.name.trim())
  if (!name.success) mistakes.name = 'Enter a name of 1 to 200 characters, without control characters.'
  const event = events.find(({ eventId }) => eventId === typed.eventId)
  if (event === undefined) mistakes.eventId = 'Choose one of your events.'
  const shows = showsOf(typed.shows)
  if (shows === undefined) mistakes.shows = 'Choose what the screen shows.'
  const area =
    shows === 'kitchen'
      ? event?.areas.find(({ areaId }) => `${event.eventId}:${areaId}` === typed.area)
      : undefined
  if (shows === 'kitchen' && area === undefined) mistakes.area = 'Choose an area of this event.'
  const end = linkEnd(typed, event?.timeZone ?? 'UTC', nowMs)
  if ('mistake' in end) mistakes[end.field] = end.mistake
  if (event === undefined || shows === undefined || !name.success || 'mistake' in end || mistakes.area)
    return { mistakes }
  const { eventId } = event
  const { endsAt } = end
  return {
    wanted: {
      eventId,
      name: name.data,
      shows,
      areaId: area?.areaId ?? null,
      endsAt,
      event,
      area: area?.name,
    },
  }
}

const dayMs = 86_400_000
/** The longest that a link works (docs/security.md, Sessions): longer than a festival. */
const longestMs = 30 * dayMs
/** An evening runs past midnight: a link that is for a day ends at noon of the next one. */
const noonMs = dayMs / 2

/** When a link ends, as the form offers it; `date` is after a day that is typed. */
export const validities: Record<string, { name: string; ms: number | undefined }> = {
  day: { name: 'In 1 day', ms: dayMs },
  week: { name: 'In 7 days', ms: 7 * dayMs },
  month: { name: 'In 30 days', ms: longestMs },
  date: { name: 'After a chosen day, such as the last of the festival', ms: undefined },
}

/** When a link ends, or what is wrong with the choice. Nights belong to the day before, on the event's clock. */
export function linkEnd(
  { validity, lastDay }: { validity: string; lastDay: string },
  timeZone: string,
  nowMs: number,
): { endsAt: number } | { field: 'validity' | 'lastDay'; mistake: string } {
  const chosen = Object.hasOwn(validities, validity) ? validities[validity] : undefined
  if (chosen === undefined) return { field: 'validity', mistake: 'Choose when the link ends.' }
  if (chosen.ms !== undefined) return { endsAt: nowMs + chosen.ms }
  const parsed = date.safeParse(lastDay)
  if (!parsed.success) return { field: 'lastDay', mistake: 'Enter the last day.' }
  const noon = Date.parse(parsed.data) + dayMs + noonMs
  const endsAt = noon - offsetIn(timeZone)(noon)
  if (endsAt <= nowMs) return { field: 'lastDay', mistake: 'Enter a day that is not over.' }
  if (endsAt > nowMs + longestMs)
    return { field: 'lastDay', mistake: 'A link is valid for at most 30 days. Enter an earlier day.' }
  return { endsAt }
}
