import { z } from 'zod'
import { eventId, maxInteger } from '../values/ids.ts'

/**
 * A whole number from `from` to `to` in a path or query, in plain decimal digits; not `042`, `+42`, `4.0` or the empty
 * string (docs/api.md, Parameters).
 */
export function integerParameter(from: number, to: number) {
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,9})$/, `must be a whole number from ${from} to ${to} in plain digits`)
    .transform(Number)
    .refine(
      value => value >= from && value <= to,
      `must be a whole number from ${from} to ${to} in plain digits`,
    )
    .meta({ type: 'integer', minimum: from, maximum: to })
}

export const id = integerParameter(1, maxInteger)

export const noParameters = z.object({})
export const eventPath = z.object({ eventId: eventId.describe('Id of the event, in either case') })
export const dayAndArea = z.object({
  dayId: id.optional().describe('Default: the open day, else the one closed last'),
  areaId: id.optional().describe('Default: all areas'),
})
