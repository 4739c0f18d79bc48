import { name as shape } from '@tally/contract'
import { expect, test } from 'vitest'
import { afterDay, inDays, readTyped } from './fields.ts'

/** Friday, 20:00 in Rome. */
const now = Date.parse('2026-09-04T18:00:00Z')
const ends = { never: { name: 'Never', ms: null }, ...inDays, ...afterDay }
const longestMs = 30 * 86_400_000

/** When it ends, or what is wrong. */
function endOf(chosen: string, lastDay: string, nowMs = now, timeZone = 'Europe/Rome') {
  const mistakes = {}
  const typed = { name: 'Hall', eventId: '', ends: chosen, lastDay }
  const { endsAt } = readTyped(typed, { shape, ends, longestMs }, { timeZone, nowMs }, mistakes)
  return Object.keys(mistakes)[0] ?? endsAt
}

test('what is for a day ends at noon of the next one, by the clock of its event', () => {
  expect(endOf('date', '2026-09-06')).toBe(Date.parse('2026-09-07T10:00:00Z'))
})

test('the night belongs to the day before: that one may still be chosen', () => {
  const night = Date.parse('2026-09-04T23:30:00Z')
  expect(endOf('date', '2026-09-04', night)).toBe(Date.parse('2026-09-05T10:00:00Z'))
})

test.each(['2026-09-03', '2026-02-30', '', '2026-10-04'])('%s is not a last day', lastDay => {
  expect(endOf('date', lastDay)).toBe('lastDay')
})

test.each(['year', '', 'constructor'])('%s is not offered', chosen => {
  expect(endOf(chosen, '2026-09-05')).toBe('ends')
})
