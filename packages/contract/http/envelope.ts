import { z } from 'zod'

const utc = z.iso.datetime()

/** Fields of `meta` that every answer carries (docs/api.md, Answers). */
const commonMeta = {
  generatedAt: utc.describe('Time of generation'),
  eventId: z.guid().describe('Event concerned'),
}

const asOf = utc
  .nullable()
  .describe(
    'Everything received about this event up to this time is counted; null before the first record about it',
  )

export const pagination = z.object({
  page: z.int(),
  pageSize: z.int(),
  totalCount: z.int(),
  totalPages: z.int().describe('0 when totalCount is 0'),
})
export type Pagination = z.infer<typeof pagination>

export const listMeta = z.object(commonMeta)
export const eventMeta = z.object({ ...commonMeta, asOf })
export const dayMeta = z.object({
  ...commonMeta,
  dayId: z.int().nullable().describe('The day that the data covers; null only when no day can be resolved'),
  asOf,
})
export const pageMeta = z.object({ ...commonMeta, asOf, pagination })

/** The one shape of every successful answer (docs/api.md, Answers). */
export function envelope<Data extends z.ZodType, Meta extends z.ZodType>(data: Data, meta: Meta) {
  return z.object({ data, meta })
}
