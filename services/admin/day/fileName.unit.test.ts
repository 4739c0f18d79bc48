import type { StoredEvent } from '@tally/figures'
import { expect, test } from 'vitest'
import { labelledDays, nameOf } from '../views/dayLabels.ts'
import { fileName } from './fileName.ts'

const day = (dayId: number, date: string, openedAt = 0) => ({ dayId, date, openedAt, closedAt: null })
const eventOf = (name: string, days = [day(41, '2026-09-04')]) =>
  ({ eventId: '7c1e0f4e', name, days, timeZone: 'Europe/Rome' }) as unknown as StoredEvent

test.for([
  ['Sagra del Pesce', 'sagra-del-pesce-2026-09-04'],
  ['  Fête de l’Été – №1/2 ', 'fete-de-l-ete-no1-2-2026-09-04'],
  ['Straßenfest Ærø', 'strassenfest-aero-2026-09-04'],
  ['../../etc/passwd"\r\nX-Evil: 1', 'etc-passwd-x-evil-1-2026-09-04'],
  ['寿司祭り', 'festival-7c1e0f4e-2026-09-04'],
  [`${'a'.repeat(59)} b`, `${'a'.repeat(59)}-2026-09-04`],
])('the files of “%s” begin with %s', ([name = '', expected]) => {
  const event = eventOf(name)
  expect(fileName(event, event.days[0])).toBe(expected)
})

test('files of all days are named after the first day', () => {
  const event = eventOf('Sagra', [day(2, '2026-09-05'), day(1, '2026-09-04')])
  expect(fileName(event, undefined)).toBe('sagra-2026-09-04-all-days')
})

test('days of one date are told apart by when they opened, on the event’s clock', () => {
  const days = [
    day(3, '2026-09-05', Date.UTC(2026, 8, 5, 16)),
    day(2, '2026-09-05', Date.UTC(2026, 8, 5, 9)),
    day(1, '2026-09-04', 0),
  ]
  const event = eventOf('Sagra', days)
  const names = labelledDays(event).map(label => nameOf(label))
  expect(names).toEqual(['2026-09-04', '2026-09-05 11:00', '2026-09-05 18:00'])
  const files = event.days.toReversed().map(day => fileName(event, day))
  expect(files).toEqual(['sagra-2026-09-04', 'sagra-2026-09-05-1100', 'sagra-2026-09-05-1800'])
})
