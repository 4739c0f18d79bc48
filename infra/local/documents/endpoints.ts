import { type Endpoint, endpoints } from '@tally/contract'
import { z } from 'zod'
import { rowsOf } from './rows.ts'

const declared: Endpoint[] = Object.values(endpoints)
const code = (text: string) => `\`${text}\``
const pathOf = (url: string) => url.replaceAll(/:(\w+)/g, '{$1}')

/** The table of docs/api.md, Endpoints. */
export const endpointTable = () =>
  rowsOf(
    ['path', 'scope', 'answers', '`data`'],
    declared.map(({ url, scope, summary, answer }) => {
      const { id, isList } = resourceOf(answer)
      return [code(pathOf(url)), code(scope), summary, isList ? `list of ${id}` : id]
    }),
  )

/** The table of docs/api.md, Answers. */
export const ruleTable = () =>
  rowsOf(
    ['answer', 'rules'],
    declared.flatMap(({ url, rules }) =>
      rules === undefined ? [] : [[code(pathOf(url).replace('/api/v1', '')), rules]],
    ),
  )

/** The table of docs/api.md, Parameters: a parameter that several endpoints take in the same way has one row. */
export function parameterTable(): string {
  const taken = declared.flatMap(({ url, query }) =>
    Object.entries(query.shape).map(([name, schema]) => {
      const { description = '', ...json } = z.toJSONSchema(schema as z.ZodType, { io: 'input' })
      const [, form = '', fallback = ''] = /^(?:(.+)[;.] )?[Dd]efault: (.+)$/.exec(description) ?? []
      return {
        endpoint: code(url.split('/').at(-1) ?? ''),
        row: [code(name), valuesOf(json) ?? form, fallback],
      }
    }),
  )
  const byRow = Map.groupBy(taken, ({ row }) => row.join(' | '))
  return rowsOf(
    ['parameter', 'values', 'default', 'endpoints'],
    [...byRow].map(([row, same]) => [row, same.map(({ endpoint }) => endpoint).join(', ')]),
  )
}

function valuesOf(json: z.core.JSONSchema.JSONSchema): string | undefined {
  if (json.enum !== undefined) return json.enum.map(value => code(String(value))).join(', ')
  if (json.type !== 'integer') return undefined
  return json.maximum === 2_147_483_647
    ? 'integer id'
    : `${json.minimum} to ${json.maximum?.toLocaleString('en')}`
}

/** The table of docs/api.md, Fields. */
export function fieldTable(): string {
  const resources = declared.map(({ answer }) => resourceOf(answer))
  const byId = new Map(resources.map(({ id, shape }) => [id, fieldList(shape)]))
  return rowsOf(['resource', 'fields'], [...byId])
}

/** What the `data` of an answer is, or is a list of. */
function resourceOf(answer: z.ZodType) {
  const { data } = (answer as z.ZodObject<{ data: z.ZodType }>).shape
  const resource = (data instanceof z.ZodArray ? data.element : data) as z.ZodObject
  return { id: resource.meta()?.id ?? '', isList: data instanceof z.ZodArray, shape: resource.shape }
}

const fieldList = (shape: z.ZodRawShape): string =>
  Object.entries(shape)
    .map(([name, field]) => code(name) + detailsOf(field as z.ZodType))
    .join(', ')

function detailsOf(field: z.ZodType): string {
  const isNullable = field instanceof z.ZodNullable
  const inner = isNullable ? (field.unwrap() as z.ZodType) : field
  if (inner instanceof z.ZodArray) return ` (each ${fieldList((inner.element as z.ZodObject).shape)})`
  if (inner instanceof z.ZodObject) return ` (${isNullable ? 'null, or ' : ''}${fieldList(inner.shape)})`
  return isNullable ? ' or null' : ''
}
