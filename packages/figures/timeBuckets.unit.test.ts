import { type EpochMs, offsetIn } from '@tally/contract'
import fc from 'fast-check'
import moment from 'moment-timezone'
import { expect, test } from 'vitest'
import { bucketStart } from './time.ts'

const dayMs = 86_400_000
const zones = moment.tz.names()

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
  for (const zone of zones) {
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
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 2040, max: 9998 }), (zone, year) => {
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
