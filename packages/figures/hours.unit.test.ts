import type { EpochMs } from '@tally/contract'
import { anyZone, instant, zones } from '@tally/testkit/records/instants'
import fc from 'fast-check'
import moment from 'moment-timezone'
import { expect, test } from 'vitest'
import { hourIn } from './time.ts'

const at = (text: string) => Date.parse(text) as EpochMs

test('the hour of any instant in any zone is the one that moment-timezone says', () => {
  fc.assert(
    fc.property(anyZone, fc.array(instant, { minLength: 1, maxLength: 20 }), (zone, instants) => {
      const hourOf = hourIn(zone)
      for (const at of instants) expect(hourOf(at as EpochMs)).toBe(moment.tz(at, zone).hour())
    }),
    { numRuns: 1_000 },
  )
})

test.each(zones)('every quarter of an hour of 2026 in %s', zone => {
  const hourOf = hourIn(zone)
  for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 15 * 60_000)
    if (hourOf(at as EpochMs) !== moment.tz(at, zone).hour())
      expect.fail(`wrong at ${new Date(at).toISOString()}`)
})

test('the hour that comes twice in autumn is one bucket', () => {
  const inRome = hourIn('Europe/Rome')
  expect(inRome(at('2026-10-25T00:30:00Z'))).toBe(2)
  expect(inRome(at('2026-10-25T01:30:00Z'))).toBe(2)
  expect(inRome(at('2026-10-25T02:30:00Z'))).toBe(3)
})

test("St. John's changed its clock at one minute past midnight", () => {
  const inStJohns = hourIn('America/St_Johns')
  expect(inStJohns(at('2010-11-07T02:30:59Z'))).toBe(0)
  expect(inStJohns(at('2010-11-07T02:31:00Z'))).toBe(23)
})

test('Lord Howe moves its clock by half an hour', () => {
  const onLordHowe = hourIn('Australia/Lord_Howe')
  expect(onLordHowe(at('2026-10-03T15:29:59Z'))).toBe(1)
  expect(onLordHowe(at('2026-10-03T15:30:00Z'))).toBe(2)
  expect(onLordHowe(at('2026-04-04T15:00:00Z'))).toBe(1)
})

test('Monrovia of 1971 was 44 minutes and 30 seconds behind', () => {
  const inMonrovia = hourIn('Africa/Monrovia')
  expect(inMonrovia(at('1971-06-01T12:44:29Z'))).toBe(11)
  expect(inMonrovia(at('1971-06-01T12:44:30Z'))).toBe(12)
})

test('Winnipeg stays on summer time from 2026 on, also if this Node does not know the law yet', () => {
  const inWinnipeg = hourIn('America/Winnipeg')
  expect(inWinnipeg(at('2025-11-15T18:30:00Z'))).toBe(12)
  expect(inWinnipeg(at('2026-11-15T18:30:00Z'))).toBe(13)
})
