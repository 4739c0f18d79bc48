import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { event, eventExample } from './event.ts'
import { order, orderExample, readOrder } from './order.ts'
import { organization, organizationExample } from './organization.ts'
import { refund, refundExample } from './refund.ts'
import { issueSentence } from './sentences.ts'

/**
 * Why a record is rejected: the first of these reasons that applies (docs/records.md, Dead letters). `internal`: Tally
 * itself failed while judging the record.
 */
export const rejectionReasons = [
  'too-large',
  'not-json',
  'schema',
  'key-mismatch',
  'conflict',
  'contradiction',
  'too-many',
  'internal',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** `message` names the field and what it must be, never its value, which may be personal data. */
export type Rejected = { outcome: 'rejected'; reason: RejectionReason; message: string }
export type Decoded<Value> = { outcome: 'decoded'; value: Value } | Rejected

/** The record types, each with its schema, the field that its key repeats, and the example of docs/records.md. */
export const recordTypes = {
  organizations: { schema: organization, keyField: 'organizationId', example: organizationExample },
  events: { schema: event, keyField: 'eventId', example: eventExample },
  orders: { schema: order, keyField: 'eventId', example: orderExample },
  refunds: { schema: refund, keyField: 'eventId', example: refundExample },
} as const
export type RecordType = keyof typeof recordTypes
export type RecordOf<Type extends RecordType> = z.output<(typeof recordTypes)[Type]['schema']>

/**
 * Decodes one Kafka record: bytes of key and value in, the validated record or the reason for its rejection out. No
 * known value makes it throw. Fields that the schema does not name are dropped here (docs/records.md, Values).
 */
export function decodeRecord<Type extends RecordType>(
  type: Type,
  key: Buffer | null,
  value: Buffer | null,
): Decoded<RecordOf<Type>> {
  const { keyField } = recordTypes[type]
  const { stackTraceLimit } = Error
  // The stacks of these errors are never shown; without them a bad record costs a third less.
  Error.stackTraceLimit = 0
  let parsed: ReturnType<typeof parse> | undefined
  try {
    const text = readText(value)
    const json = parseJson(text)
    parsed = json === undefined ? undefined : parse(type, json, text)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
  if (parsed === undefined) return rejected('not-json', 'the value is not UTF-8 JSON (or is missing)')
  if (!parsed.success)
    return rejected('schema', `${parsed.issue.field || 'the value'}: ${parsed.issue.takes}`)
  const record = parsed.data as RecordOf<Type>
  const expectedKey = (record as Record<string, unknown>)[keyField] as string
  if (key === null || key.toString('latin1') !== expectedKey) {
    return rejected('key-mismatch', `the record key is not the ${keyField} of its value, in lower case`)
  }
  return { outcome: 'decoded', value: record }
}

function parse(type: RecordType, json: unknown, text: string) {
  const data = type === 'orders' ? readOrder(json, text) : undefined
  return data === undefined ? judge(recordTypes[type].schema, json) : { success: true as const, data }
}

/**
 * `safeParse`, but only the first issue gets its message, and no Error is created: in a topic full of bad records,
 * these would cost as much as the validation itself.
 */
function judge(schema: z.core.$ZodType, json: unknown) {
  const { value, issues } = run(schema, json)
  const [first] = issues
  if (first === undefined) return { success: true as const, data: value }
  return { success: false as const, issue: named(first) }
}

/** A field that breaks its schema, as a path (empty for the value itself), and what belongs there. */
export type SchemaIssue = { field: string; takes: string }

/**
 * All fields of a JSON value that break the schema of its type, each once and at most `most`; the first is the one that
 * `decodeRecord` names.
 */
export function schemaIssues(type: RecordType, value: Buffer | null, most: number): SchemaIssue[] {
  const byField = new Map<string, SchemaIssue>()
  for (const raw of run(recordTypes[type].schema, jsonOf(String(value))).issues) {
    if (byField.size === most) break
    const issue = named(raw)
    if (!byField.has(issue.field)) byField.set(issue.field, issue)
  }
  return [...byField.values()]
}

const run = (schema: z.core.$ZodType, json: unknown) =>
  schema._zod.run({ value: json, issues: [] }, context) as z.core.ParsePayload

const context: z.core.ParseContextInternal = { async: false, error: issueSentence }

/** The text of a value; none (which is not JSON) if it is missing or not UTF-8. */
const readText = (value: Buffer | null): string =>
  value === null || !isUtf8(value) ? '' : value.toString('utf8')

/** A JSON value, or undefined if the text is not JSON; a text with a byte order mark is not. */
function parseJson(text: string): unknown {
  return isSurelyNotJson(text.trim()) ? undefined : jsonOf(text)
}

/** A JSON value, or undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether the first and last characters show that a text is not JSON. That detects most bad texts (truncated, or
 * another format), and the error that the parser would create costs as much as applying a good record.
 */
function isSurelyNotJson(text: string): boolean {
  if (text.startsWith('{')) return !text.endsWith('}')
  if (text.startsWith('[')) return !text.endsWith(']')
  if (text.startsWith('"')) return !text.endsWith('"')
  return !/^[-\dtfn]/.test(text)
}

function named(raw: z.core.$ZodRawIssue): SchemaIssue {
  const { path, message } = z.core.util.finalizeIssue(raw, context, z.core.config())
  const field = path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`,
    )
    .join('')
  return { field, takes: message }
}

function rejected(reason: RejectionReason, message: string): Rejected {
  return { outcome: 'rejected', reason, message }
}
