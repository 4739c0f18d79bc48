import { z } from 'zod'

/** A string kept as it came, `min` to `max` UTF-16 units, without U+0000 or a lone surrogate (messages.md section 1). */
export function text(min: number, max: number) {
  return z
    .string()
    .min(min, `must have at least ${min} character${min === 1 ? '' : 's'}`)
    .max(max, `must have at most ${max} characters`)
    .refine(
      value => !value.includes('\0') && value.isWellFormed(),
      'must hold no U+0000 and no lone surrogate',
    )
}

export const name = text(1, 200)
