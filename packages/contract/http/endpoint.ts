import { z } from 'zod'
import { eventId, maxInteger } from '../values/ids.ts'

/** What a key may read (docs/api.md, Scopes). */
export const scope = z.enum(['events:read', 'analytics:read', 'orders:read'])
export type Scope = z.infer<typeof scope>

type Declared<Params extends z.ZodObject, Query extends z.ZodObject, Answer extends z.ZodType> = {
  url: string
  scope: Scope
  /** What it answers, in the OpenAPI document and in docs/api.md, Endpoints. */
  summary: string
  /** What its schema cannot say, such as its order: in the OpenAPI document and in docs/api.md, Answers. */
  rules?: string
  params: Params
  query: Query
  /** The whole body: `data` and `meta`. */
  answer: Answer
  /** An answer; those of all endpoints are of one `evening`, and their figures add up. */
  example: z.output<Answer>
}
export type Endpoint = Declared<z.ZodObject, z.ZodObject, z.ZodType>

/** Declares an endpoint of the API; `endpoints/index.ts` lists all of them. */
export const endpoint = <Params extends z.ZodObject, Query extends z.ZodObject, Answer extends z.ZodType>(
  declared: Declared<Params, Query, Answer>,
) => declared

/** Values that the answers of several endpoints have. */
export const currency = z.literal('EUR')
export const utc = z.iso.datetime()
export const euros = z.number().describe('EUR')

/** Fields of `meta` that every answer carries (docs/api.md, Answers). */
const common = {
  generatedAt: utc.describe('Time of generation'),
  eventId: z.guid().describe('Event concerned; all zeros in the list of events'),
}

const asOf = utc
  .nullable()
  .describe('Everything received about this event up to this time is counted; null if that time is not known')
const dayId = z
  .int()
  .nullable()
  .describe('The day that the data covers; null only when no day can be resolved')

const pagination = z
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

const generatedAt = '2026-09-05T19:31:07.512Z'
const eveningAsOf = '2026-09-05T19:31:07.100Z'
const eveningId = '7c1e0000-0000-4000-8000-000000000001'

/** The `meta` that the examples of all endpoints share, and the items that are sold in them. */
export const evening = {
  eventId: eveningId,
  ofList: { generatedAt, eventId: '00000000-0000-0000-0000-000000000000' },
  ofEvent: { generatedAt, eventId: eveningId, asOf: eveningAsOf },
  ofDay: { generatedAt, eventId: eveningId, asOf: eveningAsOf, dayId: 42 },
  fritto: { menuItemId: 7, itemName: 'Fritto misto' },
  acqua: { menuItemId: 9, itemName: 'Acqua' },
}

type JsonSchema = Record<string, unknown>

/**
 * The metadata of an object schema that is the component `id` of the OpenAPI document. There it extends the component
 * `base` with the fields `own`; the base describes all other fields.
 */
function extension(id: string, base: string, own: readonly string[]) {
  const override = ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    const properties = jsonSchema.properties as JsonSchema
    for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword]
    const fields = { type: 'object', properties: picked(properties, own), required: own }
    jsonSchema.allOf = [{ $ref: `#/components/schemas/${base}` }, fields]
  }
  return { id, override }
}

const picked = (properties: JsonSchema, names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map(name => [name, properties[name]]))
