import { createRequire } from 'node:module'
import { z } from 'zod'

declare const epochMsBrand: unique symbol
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { [epochMsBrand]: true }

const year10000 = Date.UTC(10000, 0, 1)
const shape = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

/**
 * Reads an RFC 3339 timestamp with offset (messages.md section 1): capital T and Z, no second 60, offsets up
 * to 23:59, a real date, in UTC of the years 1970 to 9999. Digits finer than the millisecond are cut.
 * Returns undefined for anything else.
 */
export function parseTimestamp(text: string): EpochMs | undefined {
  const match = shape.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match
  if (!isRealDate(Number(year), Number(month), Number(day))) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  if (sign !== undefined && (Number(offsetHour) > 23 || Number(offsetMinute) > 59)) return undefined
  // A local year below 1969 cannot reach 1970 in UTC; Date.UTC would take 0 to 99 for 1900 to 1999.
  if (Number(year) < 1969) return undefined
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  const offset = sign === undefined ? 0 : (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const milliseconds = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
  const epochMs = local + milliseconds + (sign === '-' ? offset : -offset)
  return epochMs >= 0 && epochMs < year10000 ? (epochMs as EpochMs) : undefined
}

/** The timestamp of an answer: UTC with `Z`, milliseconds only where they are not zero (decisions.md, Answers). */
export function formatTimestamp(epochMs: number): string {
  const text = new Date(epochMs).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

/** An RFC 3339 timestamp on the wire, milliseconds since 1970 inside. */
export const timestamp = z
  .string()
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const epochMs = parseTimestamp(text)
    if (epochMs !== undefined) return epochMs
    context.issues.push({
      code: 'custom',
      message: 'must be an RFC 3339 timestamp with an offset, of the years 1970 to 9999',
      input: text,
    })
    return z.NEVER
  })

/** A calendar date, `YYYY-MM-DD`. */
export const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date YYYY-MM-DD')
  .refine(
    text => isRealDate(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))),
    'must be a real date',
  )
  .meta({ format: 'date' })

function isRealDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  if (month === 2) return day <= (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
  return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
}

type PackedZones = { zones: string[]; links: string[] }
const packed = createRequire(import.meta.url)('moment-timezone/data/packed/latest.json') as PackedZones

/**
 * The names of the IANA database, aliases included. Intl alone is no judge: it also takes offsets (`+02:00`),
 * other cases (`europe/rome`) and names that only ICU knows (`PST`, `SystemV/EST5`).
 */
const ianaNames = new Set([
  ...packed.zones.map(zone => zone.slice(0, zone.indexOf('|'))),
  ...packed.links.map(link => link.slice(link.indexOf('|') + 1)),
])

/** The name of an IANA time zone; absent or null means UTC (messages.md, Event). */
export const timeZone = z
  .string()
  .refine(name => ianaNames.has(name), 'must be the name of an IANA time zone')
  .nullish()
  .transform(name => name ?? 'UTC')
