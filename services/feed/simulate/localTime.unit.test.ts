import { expect, test } from 'vitest'
import { localTime } from './localTime.ts'

const at = (date: string, minutes: number, timeZone: string) =>
  new Date(localTime(date, minutes, timeZone)).toISOString()

test('a local time is converted in its time zone, also after midnight', () => {
  expect(at('2026-09-04', 19 * 60, 'Europe/Rome')).toBe('2026-09-04T17:00:00.000Z')
  expect(at('2026-09-04', 25 * 60 + 30, 'Europe/Dublin')).toBe('2026-09-05T00:30:00.000Z')
})

test('in the night of a clock change, the new offset applies after it', () => {
  expect(at('2026-10-24', 25 * 60, 'Europe/Berlin')).toBe('2026-10-24T23:00:00.000Z')
  expect(at('2026-10-24', 28 * 60, 'Europe/Berlin')).toBe('2026-10-25T03:00:00.000Z')
})
