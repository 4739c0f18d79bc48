import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// The one place that knows the time zone data, which is moment-timezone's: names and hours come from the same version,
// whatever version the ICU of this Node has (docs/decisions/0020-one-version-of-the-time-zone-data.md). Nothing else
// may format with Intl in another zone than UTC; test/timeZones.unit.test.ts looks for it.

type Packed = { version: string; zones: string[]; links: string[] }

/** A zone's offsets from UTC in milliseconds; `offsets[n]` holds from `changes[n]` (epoch milliseconds) on. */
type Zone = { changes: number[]; offsets: number[] }

/** A local time is `at + offsetAt(at)`; `at` is in epoch milliseconds, the offset in milliseconds. */
export type OffsetAt = (at: number) => number

const require = createRequire(import.meta.url)
const packed = 'moment-timezone/data/packed/latest.json'
let data: { version: string; zones: Map<string, string> } | undefined
const opened = new Map<string, OffsetAt>()

/** Read at the first use, in 5 ms: most commands need none of it. */
function readData() {
  if (data !== undefined) return data
  const { version, zones, links } = require(packed) as Packed
  const byName = new Map(zones.map(zone => [zone.slice(0, zone.indexOf('|')), zone]))
  // Python's zoneinfo and Java have `Factory`, too, which moment-timezone leaves out.
  for (const link of [...links, 'Etc/UTC|Factory']) {
    const [name = '', alias = ''] = link.split('|')
    byName.set(alias, byName.get(name) ?? '')
  }
  data = { version, zones: byName }
  return data
}

/**
 * The version of the IANA database that the data are, such as `2026f`. Keeps nothing of them in memory: a query process
 * that answers polls needs only their version, for its metric.
 */
export function timeZoneDataVersion(): string {
  const [, version] = /"version":\s*"(\w+)"/.exec(readFileSync(require.resolve(packed), 'utf8')) ?? []
  return version ?? readData().version
}

/**
 * Whether it is a name of the IANA database, aliases included. Intl cannot decide: it also accepts offsets (`+02:00`),
 * other cases (`europe/rome`) and names that only ICU knows (`PST`, `SystemV/EST5`).
 */
export const isTimeZone = (name: string): boolean => readData().zones.has(name)

/** The offsets of an IANA zone, from 1970 to 9999. Throws if there is no such zone: no valid event names it. */
export function offsetIn(timeZone: string): OffsetAt {
  const known = opened.get(timeZone)
  if (known !== undefined) return known
  const zone = readData().zones.get(timeZone)
  if (zone === undefined)
    throw new RangeError(`the time zone data ${timeZoneDataVersion()} has no ${timeZone}`)
  const made = makeOffsetAt(unpack(zone))
  opened.set(timeZone, made)
  return made
}

const year2100 = Date.UTC(2100, 0, 1)
/**
 * The data end with 2499. Rules for single years (Ramadan in Gaza) end with 2086, and the calendar and its weekdays
 * repeat every 400 years, so what holds in 2100 to 2499 holds again later.
 */
const dataEnd = Date.UTC(2500, 0, 1)

function makeOffsetAt({ changes, offsets }: Zone): OffsetAt {
  // The instants of a document or a file mostly lie between the same two changes.
  let last = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY, offset: 0 }
  return at => {
    const within = at < dataEnd ? at : year2100 + ((at - year2100) % (dataEnd - year2100))
    if (within >= last.from && within < last.until) return last.offset
    const index = lastAtOrBefore(changes, within)
    last = {
      from: changes[index] ?? Number.NEGATIVE_INFINITY,
      until: changes[index + 1] ?? Number.POSITIVE_INFINITY,
      offset: offsets[index] ?? 0,
    }
    return last.offset
  }
}

/** The index of the last number that is not above `at`; `ascending` begins with -Infinity. */
function lastAtOrBefore(ascending: number[], at: number): number {
  let [low, high] = [0, ascending.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) <= at) low = middle
    else high = middle
  }
  return low
}

/**
 * Reads `name|abbreviations|offsets|which of them|changes|population`. The changes are minutes since the change before.
 * An offset is what has to be added to a local time, so its sign is turned. A number has digits of base 60, so that the
 * digit behind its point, if it has one, is the seconds.
 */
function unpack(packed: string): Zone {
  const [, , offsets = '', which = '', changes = ''] = packed.split('|')
  const differentMs = offsets.split(' ').map(offset => 0 - msOf(offset))
  let at = 0
  return {
    changes: [
      Number.NEGATIVE_INFINITY,
      ...changes
        .split(' ')
        .filter(since => since !== '')
        .map(since => {
          at += msOf(since)
          return at
        }),
    ],
    offsets: Array.from(which, digit => differentMs[digits.indexOf(digit)] ?? 0),
  }
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

/** The milliseconds of a packed number of minutes. */
function msOf(minutes: string): number {
  const [whole = '', second = '0'] = minutes.replace('-', '').split('.')
  let seconds = 0
  for (const digit of whole + second) seconds = seconds * 60 + digits.indexOf(digit)
  return (minutes.startsWith('-') ? -1 : 1) * seconds * 1000
}
