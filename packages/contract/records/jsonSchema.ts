import { z } from 'zod'
import { type RecordType, recordTypes } from './decode.ts'

/** The JSON Schema (2020-12) of a record's value as it is in Kafka, for producers. */
export function recordJsonSchema(type: RecordType) {
  return z.toJSONSchema(recordTypes[type].schema, { io: 'input', target: 'draft-2020-12' })
}
