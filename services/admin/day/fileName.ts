import type { EventDay } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import { dayLabel, labelledDays } from '../views/dayLabels.ts'

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
  const { date, time } = dayLabel(event, day?.dayId) ?? {
    date: labelledDays(event)[0]?.date,
    time: 'all-days',
  }
  const which = time === undefined ? date : `${date}-${time.replace(':', '')}`
  return `${name || `festival-${event.eventId.slice(0, 8)}`}-${which}`
}
