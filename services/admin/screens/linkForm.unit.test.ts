import { expect, test } from 'vitest'
import { linkEnd } from './linkForm.ts'

/** Friday, 20:00 in Rome. */
const now = Date.parse('2026-09-04T18:00:00Z')
const until = (lastDay: string) => linkEnd({ validity: 'date', lastDay }, 'Europe/Rome', now)

test('a link for a day ends at noon of the next one, by the clock of its event', () => {
  expect(until('2026-09-06')).toEqual({ endsAt: Date.parse('2026-09-07T10:00:00Z') })
})

test('the night belongs to the day before: that one may still be chosen', () => {
  const night = Date.parse('2026-09-04T23:30:00Z')
  expect(linkEnd({ validity: 'date', lastDay: '2026-09-04' }, 'Europe/Rome', night)).toEqual({
    endsAt: Date.parse('2026-09-05T10:00:00Z'),
  })
})

test.each(['2026-09-03', '2026-02-30', '', '2026-10-04'])('%s is not a last day', lastDay => {
  expect(until(lastDay)).toMatchObject({ field: 'lastDay' })
})

test.each([
  ['day', 1],
  ['week', 7],
  ['month', 30],
])('%s is %d days from now', (validity, days) => {
  expect(linkEnd({ validity, lastDay: '' }, 'UTC', now)).toEqual({ endsAt: now + days * 86_400_000 })
})

test.each(['year', '', 'constructor'])('%s is not offered', validity => {
  expect(linkEnd({ validity, lastDay: '2026-09-05' }, 'UTC', now)).toMatchObject({ field: 'validity' })
})
