import { name as nameShape } from '@tally/contract'
import type { ListedEvent } from '@tally/figures'
import { type Fields, type Mistakes, textOf } from '../http/forms.ts'
import { linkEnd } from './linkEnds.ts'
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
