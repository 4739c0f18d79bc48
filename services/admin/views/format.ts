import { type Html, html } from './html.ts'

/** A time in UTC; a script shows it in the reader's time zone. */
export function moment(epochMs: number | null, absent = 'never'): Html {
  if (epochMs === null) return html`<span class="faint">${absent}</span>`
  const iso = new Date(epochMs).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** 12,345 */
export const whole = (count: number): string => count.toLocaleString('en-US')

/** `1 key`, `2 keys`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`

/** A duration: `12 s`, `3 min`, `5 h`, `2 days`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
