import { UsageError } from './failure.ts'

/** A whole number from `least` to `most`; throws a UsageError that says what `name` takes. */
export function wholeNumber(name: string, text: string, least: number, most?: number): number {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return value
  const range = most === undefined ? `${least}` : `${least} to ${most}`
  throw new UsageError(`${name} takes a whole number from ${range}, got ${JSON.stringify(text)}`)
}

/** One of these words; throws a UsageError that says what `name` takes. */
export function oneOf<Word extends string>(name: string, words: readonly Word[], text: string): Word {
  const found = words.find(word => word === text)
  if (found !== undefined) return found
  throw new UsageError(`${name} takes one of ${words.join(', ')}, got ${JSON.stringify(text)}`)
}
