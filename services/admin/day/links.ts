import { type EventDay, offsetIn } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'

/** The addresses of the sheet and the files of a day, or without one of all days of a festival. */
export function settleLinks(eventId: string, dayId?: number) {
  const isDay = dayId !== undefined
  const of = isDay ? `eventId=${eventId}&day=${dayId}` : `eventId=${eventId}`
  const name = isDay ? 'day' : 'days'
  return {
    sheet: `/live/${name}?${of}`,
    figures: `/live/${name}.csv?${of}`,
    orders: `/live/orders.csv?${of}`,
    excel: {
      sheet: `/live/${isDay ? '' : 'days-'}sheet.xlsx?${of}`,
      figures: `/live/${name}.xlsx?${of}`,
      orders: `/live/orders.xlsx?${of}`,
    },
  }
}

type WithDays = Pick<StoredEvent, 'days' | 'timeZone'>

/**
 * The days of an event by date and opening, with their names: the date as `write` writes it, and if several days have
 * it, such as lunch and dinner, also when the day was opened.
 */
export function dayNames({ days, timeZone }: WithDays, write = (date: string) => date) {
  const byDate = Map.groupBy(days, ({ date }) => date)
  const offsetAt = offsetIn(timeZone)
  const clockOf = (at: number) => new Date(at + offsetAt(at)).toISOString().slice(11, 16)
  return days.toSorted(byOpening).map(day => ({
    day,
    name: write(day.date) + (byDate.get(day.date)?.length === 1 ? '' : ` ${clockOf(day.openedAt)}`),
  }))
}

/** The name of one of them; undefined if the event does not list it. */
export const dayName = (event: WithDays, dayId: number | undefined, write?: (date: string) => string) =>
  dayNames(event, write).find(({ day }) => day.dayId === dayId)?.name

/** By date, and on a date by when they opened. */
const byOpening = (one: EventDay, other: EventDay) =>
  one.date === other.date ? one.openedAt - other.openedAt : one.date < other.date ? -1 : 1

const longestName = 60
/** Letters that do not decompose into one of a to z and a mark. */
const letters: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }

/**
 * The beginning of the names of files: `sagra-del-pesce-2026-09-04`, so that two festivals of a day do not overwrite
 * each other, `…-2026-09-04-1130` if two days have that date, and of all days `…-2026-09-04-all-days`, with the date of
 * the first. Safe in every file system and in a header: a to z, digits and hyphens. The event's id stands for a name
 * without these.
 */
export function fileName(event: StoredEvent, day: EventDay | undefined): string {
  const name = event.name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþ]/g, letter => letters[letter] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestName)
    .replace(/^-+|-+$/g, '')
  const own = dayName(event, day?.dayId)
  const date = own?.replace(/ (..):/, '-$1') ?? `${dayNames(event)[0]?.day.date}-all-days`
  return `${name || `festival-${event.eventId.slice(0, 8)}`}-${date}`
}
