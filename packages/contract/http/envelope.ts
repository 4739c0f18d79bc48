import { z } from 'zod'
import { extension } from './extension.ts'
import { utc } from './fields.ts'

/** Fields of `meta` that every answer carries (docs/api.md, Answers). */
const common = {
  generatedAt: utc.describe('Time of generation'),
  eventId: z.guid().describe('Event concerned; all zeros in the list of events'),
}

const asOf = utc
  .nullable()
  .describe(
    'Everything received about this event up to this time is counted; null before the first record about it',
  )
const dayId = z
  .int()
  .nullable()
  .describe('The day that the data covers; null only when no day can be resolved')

export const pagination = z
  .object({
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int().describe('0 when totalCount is 0'),
  })
  .meta({ id: 'Pagination' })
export type Pagination = z.infer<typeof pagination>

export const listMeta = z.object(common)
export const eventMeta = z.object({ ...common, asOf }).meta(extension('EventMeta', 'Meta', ['asOf']))
export const dayMeta = z
  .object({ ...common, dayId, asOf })
  .meta(extension('DayMeta', 'Meta', ['dayId', 'asOf']))
export const pageMeta = z
  .object({ ...common, asOf, pagination })
  .meta(extension('PageMeta', 'Meta', ['asOf', 'pagination']))

/** The one shape of every successful answer (docs/api.md, Answers). */
export function envelope<Data extends z.ZodType, Meta extends z.ZodType>(id: string, data: Data, meta: Meta) {
  const own = (meta as z.ZodType) === listMeta ? ['data'] : ['data', 'meta']
  return z.object({ data, meta }).meta(extension(id, 'Envelope', own))
}

const anyMeta = z
  .object({
    ...common,
    dayId: dayId.optional(),
    asOf: asOf.optional(),
    pagination: pagination.optional(),
  })
  .meta({ description: 'What an answer says about itself; each endpoint states which fields it carries' })

const anyEnvelope = z
  .object({ data: z.unknown().describe('An object, or a list of objects'), meta: anyMeta })
  .meta({ description: 'The shape of every successful answer' })

/** The components that the envelopes and the metas of the endpoints extend. */
export const envelopeComponents = { Envelope: anyEnvelope, Meta: anyMeta }
