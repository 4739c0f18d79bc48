import { name as shape } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import { type Fields, type Mistakes, textOf } from '../http/forms.ts'
import { afterDay, dayMs, inDays, readTyped, type Typed, typedIn } from '../views/fields.ts'
import { showsOf } from './shows.ts'
import type { NewScreen } from './store.ts'

/** What was typed, to show it again with what is wrong. `area` is `EVENT:AREA`, because a form has all events. */
export type LinkTyped = Typed & { shows: string; area: string }

export const typedOf = (fields: Fields): LinkTyped => ({
  ...typedIn(fields),
  shows: textOf(fields, 'shows'),
  area: textOf(fields, 'area'),
})

/**
 * The form as it was sent before, by the query of its page (signIn/formAgain.ts). Nothing is chosen of what it shows:
 * money on a wall must be somebody's choice.
 */
export const typedBefore = (fields: Fields): LinkTyped => typedOf({ ends: 'month', ...fields })

/** What a form asks for: `area` is the name of a kitchen's area. */
type Wanted = Pick<NewScreen, 'eventId' | 'name' | 'shows' | 'areaId' | 'endsAt'> & {
  event: ListedEvent
  area: string | undefined
}

export const linkEnds = { ...inDays, ...afterDay }
/** The longest that a link works (docs/security.md, Sessions): longer than a festival. */
const longestMs = 30 * dayMs

/** The link that a form asks for, or a message for each invalid field. */
export function readLink(
  typed: LinkTyped,
  events: ListedEvent[],
  nowMs: number,
): { wanted: Wanted } | { mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const event = events.find(({ eventId }) => eventId === typed.eventId)
  if (event === undefined) mistakes.eventId = 'Choose one of your events.'
  const shows = showsOf(typed.shows)
  if (shows === undefined) mistakes.shows = 'Choose what the screen shows.'
  const area =
    shows === 'kitchen'
      ? event?.areas.find(({ areaId }) => `${event.eventId}:${areaId}` === typed.area)
      : undefined
  if (shows === 'kitchen' && area === undefined) mistakes.area = 'Choose an area of this event.'
  const asked = { shape, ends: linkEnds, longestMs }
  const { name, endsAt } = readTyped(typed, asked, { timeZone: event?.timeZone, nowMs }, mistakes)
  if (event === undefined || shows === undefined || endsAt === null || Object.keys(mistakes).length > 0)
    return { mistakes }
  const { eventId } = event
  return {
    wanted: { eventId, name, shows, areaId: area?.areaId ?? null, endsAt, event, area: area?.name },
  }
}
