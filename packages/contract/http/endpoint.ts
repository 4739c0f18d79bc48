import { z } from 'zod'

/** What a key may read (docs/api.md, Scopes). */
export const scope = z.enum(['events:read', 'analytics:read', 'orders:read'])
export type Scope = z.infer<typeof scope>

type Declared<Params extends z.ZodObject, Query extends z.ZodObject, Answer extends z.ZodType> = {
  url: string
  scope: Scope
  /** What it answers, in the OpenAPI document and in the table of docs/api.md. */
  summary: string
  params: Params
  query: Query
  /** The whole body: `data` and `meta`. */
  answer: Answer
  /** An answer; those of all endpoints are of one evening (`evening.ts`), and their figures add up. */
  example: z.output<Answer>
}
export type Endpoint = Declared<z.ZodObject, z.ZodObject, z.ZodType>

/** Declares an endpoint of the API; `endpoints/index.ts` lists all of them. */
export const endpoint = <Params extends z.ZodObject, Query extends z.ZodObject, Answer extends z.ZodType>(
  declared: Declared<Params, Query, Answer>,
) => declared
