import { offsetIn } from '@tally/contract'
// @ts-expect-error a plain script of the browser
import { figuresIn } from '../assets/format.js'
import { type Html, html } from './html.ts'

/** A time in UTC; a script shows it in the reader's time zone. */
export function moment(epochMs: number | null, absent = 'never'): Html {
  if (epochMs === null) return html`<span class="faint">${absent}</span>`
  const iso = new Date(epochMs).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** How one locale writes figures, for scripts too (assets/format.js). */
type Figures = {
  /** 12,345 */
  whole(count: number): string
  /** €1,234.50 */
  money(euros: number): string
  /** €1,235 */
  wholeMoney(euros: number): string
  /** 12%, of 12 */
  percent(hundredths: number): string
  /** 4 Sept 2026, of a date YYYY-MM-DD */
  date(day: string): string
  /** Fri 4 Sept, of a date YYYY-MM-DD */
  weekday(day: string): string
}

/** How one locale writes figures and times. */
export type Format = Figures & {
  /** 4–6 Sept 2026, of two dates YYYY-MM-DD */
  dates(first: string, last: string): string
  /** 4 Sept 2026, 22:31, in a time zone */
  time(epochMs: number, timeZone: string): string
}

const formats = new Map<string, Format>()

/** Viewers choose the locale: as many formats are kept as there are locales in use, not as many as can be asked for. */
const mostFormats = 50

/** The format of a locale; kept, because Intl formatters are expensive to create. */
export function formatIn(locale: string): Format {
  const kept = formats.get(locale)
  if (kept !== undefined) return kept
  if (formats.size >= mostFormats) formats.clear()
  const made = newFormat(locale)
  formats.set(locale, made)
  return made
}

function newFormat(locale: string): Format {
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const midnight = (day: string) => new Date(`${day}T00:00:00Z`)
  return {
    ...(figuresIn(locale) as Figures),
    dates: (first, last) => days.formatRange(midnight(first), midnight(last)),
    time: (epochMs, timeZone) => times.format(epochMs + offsetIn(timeZone)(epochMs)),
  }
}

/** `1 key`, `2 keys`. */
export const counted = (count: number, one: string, whole: (count: number) => string = String): string =>
  `${whole(count)} ${count === 1 ? one : `${one}s`}`

/** A duration: `12 s`, `3 min`, `5 h`, `2 days`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
