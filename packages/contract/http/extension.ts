type JsonSchema = Record<string, unknown>

/**
 * The metadata of an object schema that is the component `id` of the OpenAPI document. There it extends the component
 * `base` with the fields `own`; the base describes all other fields.
 */
export function extension(id: string, base: string, own: readonly string[]) {
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
