import fc from 'fast-check'
import moment from 'moment-timezone'
import { expect, test } from 'vitest'
import { zoneinfo } from '../test/zoneinfo.ts'
import { isTimeZone, offsetIn, timeZoneDataVersion } from './timeZones.ts'

/** The offset as the table of zoneinfo writes it. */
function offsetAt(zone: string, instant: string): string {
  const seconds = offsetIn(zone)(Date.parse(instant)) / 1000
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60]
  const text = parts.map(part => String(Math.trunc(Math.abs(part))).padStart(2, '0')).join(':')
  return `${seconds < 0 ? '-' : '+'}${text}`
}

test('offsets are those of zoneinfo, also where the law is newer than this Node and after the end of the data', () => {
  const read = zoneinfo.map(([zone, instant]) => [zone, instant, offsetAt(zone, instant)])
  expect(read).toEqual(zoneinfo)
})

test('offsets of any zone are those that moment-timezone itself reads', () => {
  const instants = fc.array(fc.integer({ min: 0, max: Date.UTC(2500, 0, 1) - 1 }), { minLength: 20 })
  const zones = fc.constantFrom(...moment.tz.names())
  const property = fc.property(zones, instants, (name, drawn) => {
    const zone = moment.tz.zone(name)
    const changes = zone?.untils.filter(at => at > 0 && at < Number.POSITIVE_INFINITY) ?? []
    const ofData = offsetIn(name)
    for (const at of [...drawn, ...changes, ...changes.map(at => at - 1)])
      expect(ofData(at)).toBe(0 - Math.round((zone?.utcOffset(at) ?? Number.NaN) * 60_000))
  })
  fc.assert(property, { numRuns: 300 })
})

test('names are those of the IANA database, aliases included, of the same version as the offsets', () => {
  const { names, dataVersion } = moment.tz
  expect([...names(), 'Factory'].filter(name => !isTimeZone(name))).toEqual([])
  const others = ['', '+02:00', 'UTC+2', 'europe/rome', 'Europe/rome', 'PST', 'SystemV/EST5', 'toString']
  expect(others.filter(isTimeZone)).toEqual([])
  expect(timeZoneDataVersion()).toBe(dataVersion)
  expect(dataVersion).toMatch(/^20\d\d[a-z]$/)
})

test('a zone that the data do not have throws and says which data', () => {
  expect(() => offsetIn('Europe/Atlantis')).toThrow(
    `the time zone data ${timeZoneDataVersion()} has no Europe/Atlantis`,
  )
})
