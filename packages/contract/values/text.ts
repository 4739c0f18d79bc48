import { z } from 'zod'

/** A string, kept as it is: `min` to `max` UTF-16 units, no U+0000 or lone surrogate (docs/records.md, Values). */
export function text(min: 0 | 1, max: number) {
  // zod's min and max count code points.
  return z
    .string()
    .refine(value => value.length >= min, 'must have at least 1 character')
    .refine(value => value.length <= max, `must have at most ${max} characters`)
    .refine(isStorable, 'must hold no U+0000 and no lone surrogate')
    .meta({ minLength: min, maxLength: max, pattern: '^[^\\u0000]*$' })
}

/** Whether UTF-8 and Postgres can hold a text. */
const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed()

export const name = text(1, 200)

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)
