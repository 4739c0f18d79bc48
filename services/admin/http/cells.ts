/** A cell of a file: a text from anywhere, or a number of ours with how it is written where there are only texts. */
export type Cell = string | { value: number; text: string }

/** What a column of numbers holds; all other columns are texts. */
export type Kind = 'text' | 'count' | 'money' | 'time'
export type Column = { name: string; kind: Kind }

export const count = (whole: number): Cell => ({ value: whole || 0, text: String(whole) })

/** With a point and a plain minus in every locale, because programs read it too. */
export const moneyCell = (euros: number): Cell => ({ value: euros || 0, text: euros.toFixed(2) })

/** Days from the first one of spreadsheets to that of Unix. */
const daysBefore1970 = 25_569
// Swedish dates are those that spreadsheets read: 2026-09-05 21:31:07.
const format = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone: 'UTC' })

/** A time of day somewhere: what its clocks show, as epoch milliseconds. */
export const time = (localMs: number): Cell => ({
  value: localMs / 86_400_000 + daysBefore1970,
  text: format.format(localMs),
})
