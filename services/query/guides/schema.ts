/** What the reference shows of a JSON schema. */
export type Schema = {
  type?: string | string[]
  format?: string
  description?: string
  const?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  items?: Schema
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  allOf?: Schema[]
}
export type Field = { name: string; type: string; description: string }

/** A document with each reference replaced by the component that it names. */
export function inlined(document: object): object {
  const resolve = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolve)
    if (typeof part !== 'object' || part === null) return part
    const { $ref } = part as { $ref?: string }
    if ($ref === undefined)
      return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, resolve(inner)]))
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/([\w-]+)$/.exec($ref) ?? []
    const { components } = document as { components: Record<string, Record<string, unknown>> }
    return resolve({ ...(components[kind]?.[name] as object), ...part, $ref: undefined })
  }
  return resolve(document) as object
}

const words: Record<string, string> = { uuid: 'UUID', 'date-time': 'timestamp' }

/** The type of a value in words, such as `integer from 1 to 365`. */
export function typeOf({
  type,
  format = '',
  const: only,
  enum: one,
  minimum,
  maximum,
  items,
  anyOf,
}: Schema): string {
  if (only !== undefined) return `always ${only}`
  if (one !== undefined) return one.join(', ')
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ')
  if (Array.isArray(type)) return type.join(' or ')
  if (items !== undefined) return `list of ${typeOf(items)}s`
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`
  return words[format] ?? (format || type || 'object')
}

/** The fields of an object, or of those in a list, each followed by its own fields. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const { properties = {} } = objectIn(schema)
  return Object.entries(properties).flatMap(([name, field]) => [
    { name: prefix + name, type: typeOf(field), description: field.description ?? '' },
    ...fieldsOf(field, `${prefix}${name}${field.items === undefined ? '' : '[]'}.`),
  ])
}

const objectIn = ({ properties, items, anyOf, ...schema }: Schema): Schema => {
  if (properties !== undefined) return { properties }
  if (items !== undefined) return objectIn(items)
  return anyOf === undefined ? schema : objectIn(anyOf[0] ?? {})
}
