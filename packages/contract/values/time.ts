import { z } from 'zod'
import { isTimeZone } from './timeZones.ts'

declare const epochMsBrand: unique symbol
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { [epochMsBrand]: true }

const year10000 = Date.UTC(10000, 0, 1)

/** What a JSON Schema can say of a timestamp: not that its date is real, nor its year in UTC. */
const timestampPattern =
  '^(1969|19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' +
  'T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'
const timestampShape = new RegExp(timestampPattern)

/**
 * Reads an RFC 3339 timestamp with offset (docs/records.md, Values): capital T and Z, no second 60, offsets up
 * to 23:59, a real date, in UTC of the years 1970 to 9999. Digits beyond milliseconds are cut.
 * Returns undefined for anything else.
 */
export function parseTimestamp(text: string): EpochMs | undefined {
  if (!timestampShape.test(text)) return undefined
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  if (!isRealDate(year, month, day)) return undefined
  const minutes = digits(text, 11, 13) * 60 + digits(text, 14, 16) - offsetMinutes(text)
  // Not Date.parse, which takes longer than all of this.
  const epochMs = Date.UTC(year, month - 1, day, 0, minutes, digits(text, 17, 19), milliseconds(text))
  return epochMs >= 0 && epochMs < year10000 ? (epochMs as EpochMs) : undefined
}

/** The number in the digits [from, to) of a text, without allocating a substring for each order. */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - 0x30
  return value
}

/** The UTC offset in a text of the right shape. */
function offsetMinutes(text: string): number {
  if (text.endsWith('Z')) return 0
  const { length } = text
  const minutes = digits(text, length - 5, length - 3) * 60 + digits(text, length - 2, length)
  return text[length - 6] === '-' ? -minutes : minutes
}

/** The milliseconds in a text of the right shape: the first three digits of its fraction. */
function milliseconds(text: string): number {
  if (text[19] !== '.') return 0
  const end = text.length - (text.endsWith('Z') ? 1 : 6)
  const given = Math.min(3, end - 20)
  return digits(text, 20, 20 + given) * 10 ** (3 - given)
}

/** The timestamp of an answer: UTC with `Z`, milliseconds only if they are not zero (docs/api.md, Answers). */
export function formatTimestamp(epochMs: number): string {
  const text = new Date(epochMs).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

/** An RFC 3339 timestamp on the wire, milliseconds since 1970 inside. */
export const timestamp = z
  .string()
  .meta({ format: 'date-time', pattern: timestampPattern })
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
  .regex(/^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/, 'must be a date YYYY-MM-DD')
  .refine(
    text => isRealDate(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))),
    'must be a real date',
  )
  .meta({ format: 'date' })

function isRealDate(year: number, month: number, day: number): boolean {
  if (month === 2) return day <= (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
  return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
}

/** The name of an IANA time zone; absent or null means UTC (docs/records.md, Event). */
export const timeZone = z
  .string()
  .refine(isTimeZone, 'must be the name of an IANA time zone')
  .meta({ description: 'A name of the IANA time zone database; UTC if absent' })
  .nullish()
  .transform(name => name ?? 'UTC')
