import { type EpochMs, offsetIn } from '@tally/contract'
import { anEvent } from '@tally/testkit/records/decoded'
import { anyZone, instant, zones } from '@tally/testkit/records/instants'
import fc from 'fast-check'
import moment from 'moment-timezone'
import { expect, test } from 'vitest'
import { bucketStart, currentDay, hourIn, resolveDay } from './time.ts'

const openedAt = '2026-09-01T10:00:00Z'
const day = (dayId: number, closedAt: string | null) => ({ dayId, date: '2026-09-01', openedAt, closedAt })
const daysOf = (...days: ReturnType<typeof day>[]) => anEvent({ days }).days

test('the open day is the answer, whatever its position', () => {
  const days = daysOf(day(3, '2026-09-03T00:00:00Z'), day(1, null), day(2, '2026-09-09T00:00:00Z'))
  expect(resolveDay(days)?.dayId).toBe(1)
  expect(currentDay(days)?.dayId).toBe(1)
})

test('without an open day the one closed last answers, not the one with the highest id or date', () => {
  const days = daysOf(
    day(1, '2026-09-02T00:00:00Z'),
    day(2, '2026-09-09T00:00:00Z'),
    day(3, '2026-09-03T00:00:00Z'),
  )
  expect(resolveDay(days)?.dayId).toBe(2)
  expect(currentDay(days)).toBeUndefined()
})

test('of days closed at the same time, the one with the higher id answers', () => {
  const days = daysOf(
    day(9, '2026-09-02T02:00:00+02:00'),
    day(10, '2026-09-02T00:00:00Z'),
    day(2, '2026-09-02T00:00:00Z'),
  )
  expect(resolveDay(days)?.dayId).toBe(10)
  expect(resolveDay(days.toReversed())?.dayId).toBe(10)
})

test('a day closed at the first instant of 1970 is a closed day', () => {
  const days = anEvent({
    days: [{ ...day(1, '1970-01-01T00:00:00Z'), openedAt: '1970-01-01T00:00:00Z' }],
  }).days
  expect(resolveDay(days)?.dayId).toBe(1)
  expect(currentDay(days)).toBeUndefined()
})

test('an event without days has no day to answer with', () => {
  expect(resolveDay([])).toBeUndefined()
  expect(currentDay([])).toBeUndefined()
})

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

test("St. John's changed its clock at one minute past midnight", () => {
  const inStJohns = hourIn('America/St_Johns')
  expect(inStJohns(at('2010-11-07T02:30:59Z'))).toBe(0)
  expect(inStJohns(at('2010-11-07T02:31:00Z'))).toBe(23)
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

const dayMs = 86_400_000
const allZones = moment.tz.names()

/** The zone's offset from UTC, modulo a day, in seconds. */
const offsetAt = (timeZone: string, at: number) => (offsetIn(timeZone)(at) / 1000 + 86_400) % 86_400
const hourOf = (timeZone: string, at: number) =>
  Math.floor((Math.floor(at / 1000) + offsetAt(timeZone, at)) / 3600) % 24

/** The first whole second in (from, to] at which `read` no longer returns what it returns at `from`; changes once. */
function changeOf(read: (at: number) => number, from: number, to: number): number {
  const before = read(from)
  let [same, changed] = [from, to]
  while (changed - same > 1000) {
    const middle = Math.floor((same + changed) / 2000) * 1000
    if (read(middle) === before) same = middle
    else changed = middle
  }
  return changed
}

/** The first changes of a zone's clock in [from, to), those that a probe every `stepMs` finds. */
function changesOfClock(timeZone: string, from: number, to: number, stepMs: number): number[] {
  const read = (at: number) => offsetAt(timeZone, at)
  const changes: number[] = []
  for (let at = from; at < to; at += stepMs)
    if (read(at) !== read(at + stepMs)) changes.push(changeOf(read, at, at + stepMs))
  return changes
}

/** Instants at which the hour of day may change: a clock change, and the first full hours on either side of it. */
function turns(timeZone: string, change: number): number[] {
  const [before, after] = [offsetAt(timeZone, change - 1000), offsetAt(timeZone, change)]
  const second = change / 1000
  const lastBefore = second - 1 - ((second - 1 + before) % 3600)
  const firstAfter = second + 3600 - ((second + after) % 3600)
  return [change, lastBefore * 1000, firstAfter * 1000]
}

/** The lengths that buckets have, longest first. */
const lengths = [15 * 60_000, 14 * 60_000, 60_000, 30_000]

/** The last millisecond of the bucket that begins at `start`. */
function endOf(start: number): number {
  const length = lengths.find(length => bucketStart((start + length - 1) as EpochMs) === start)
  if (length === undefined) throw new Error(`the bucket at ${iso(start)} has another length than ${lengths}`)
  return start + length - 1
}

/** Fails if the bucket that an instant lies in has another hour of day at the instant, or on its other end. */
function expectOneHour(timeZone: string, at: number): void {
  if (at < 0) return
  const start = bucketStart(at as EpochMs)
  const hour = hourOf(timeZone, start)
  for (const other of [at - 1, at, endOf(start)])
    if (other >= start && hourOf(timeZone, other) !== hour)
      expect.fail(`${timeZone}: two hours between ${iso(start)} and ${iso(other)}`)
}
const iso = (at: number) => new Date(at).toISOString()

test('no time bucket from 1970 to 2039 holds two hours of any zone', { timeout: 120_000 }, () => {
  let changes = 0
  for (const zone of allZones) {
    const found = changesOfClock(zone, Date.UTC(1970, 0, 1), Date.UTC(2040, 0, 1), 8 * dayMs)
    changes += found.length
    for (const change of [3_600_000, Date.UTC(1980, 0, 1), Date.UTC(2023, 0, 1), ...found])
      for (const turn of turns(zone, change)) expectOneHour(zone, turn)
  }
  // The search finds what there is to find.
  expect(changes).toBeGreaterThan(10_000)
})

test('no time bucket up to the year 9999 holds two hours of any zone', () => {
  fc.assert(
    fc.property(fc.constantFrom(...allZones), fc.integer({ min: 2040, max: 9998 }), (zone, year) => {
      const changes = changesOfClock(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1), 30 * dayMs)
      for (const change of [Date.UTC(year, 5, 1), ...changes])
        for (const turn of turns(zone, change)) expectOneHour(zone, turn)
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  ['1970-01-01T00:00:00.001Z', '1970-01-01T00:00:00Z', 'half a minute'],
  ['1979-12-31T23:59:59.999Z', '1979-12-31T23:59:30Z', 'half a minute'],
  ['1980-01-01T00:00:59.999Z', '1980-01-01T00:00:00Z', 'the first minute of a quarter'],
  ['1980-01-01T00:01:00Z', '1980-01-01T00:01:00Z', 'the rest of a quarter'],
  ['2022-12-31T23:59:59.999Z', '2022-12-31T23:46:00Z', 'the rest of a quarter'],
  ['2023-01-01T00:14:59.999Z', '2023-01-01T00:00:00Z', 'a quarter of an hour'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:45:00Z', 'a quarter of an hour'],
])('the bucket of %s begins at %s: %s', (at, start) => {
  expect(bucketStart(Date.parse(at) as EpochMs)).toBe(Date.parse(start))
})
