import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { event } from './event.ts'
import { order } from './order.ts'
import { readOrder } from './readOrder.ts'
import { organization } from './organization.ts'
import { refund } from './refund.ts'

/** Why a record goes to the dead letters; the first that holds, in this order (messages.md section 3). */
export const rejectionReasons = ['not-json', 'schema', 'key-mismatch', 'conflict'] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** `message` names the field and what it must be, never its value: it may be somebody's name. */
export type Rejected = { outcome: 'rejected'; reason: RejectionReason; message: string }
export type Decoded<Value> = { outcome: 'decoded'; value: Value } | Rejected

/** The record types that the projector reads, each with its schema and the field that its key repeats. */
export const recordTypes = {
  organizations: { schema: organization, keyField: 'organizationId' },
  events: { schema: event, keyField: 'eventId' },
  orders: { schema: order, keyField: 'eventId' },
  refunds: { schema: refund, keyField: 'eventId' },
} as const
export type RecordType = keyof typeof recordTypes
export type RecordOf<Type extends RecordType> = z.output<(typeof recordTypes)[Type]['schema']>

/**
 * Reads one Kafka record of a topic: bytes of key and value in, the validated record out, or why it is
 * rejected. Never throws. Fields that the schema does not name are dropped here (messages.md section 1).
 */
export function decodeRecord<Type extends RecordType>(
  type: Type,
  key: Buffer | null,
  value: Buffer | null,
): Decoded<RecordOf<Type>> {
  const { keyField } = recordTypes[type]
  const { stackTraceLimit } = Error
  // A bad record makes errors that nobody sees the stack of: without it they cost a third less.
  Error.stackTraceLimit = 0
  const json = parseJson(value)
  const parsed = json === undefined ? undefined : parse(type, json)
  Error.stackTraceLimit = stackTraceLimit
  if (parsed === undefined) return rejected('not-json', 'the value is not UTF-8 JSON (or is missing)')
  if (!parsed.success) return rejected('schema', describe(parsed.error))
  const record = parsed.data as RecordOf<Type>
  const expectedKey = (record as Record<string, unknown>)[keyField] as string
  if (key === null || key.toString('latin1') !== expectedKey) {
    return rejected('key-mismatch', `the record key is not the ${keyField} of its value, in lower case`)
  }
  return { outcome: 'decoded', value: record }
}

function parse(type: RecordType, json: unknown) {
  const data = type === 'orders' ? readOrder(json) : undefined
  return data === undefined ? recordTypes[type].schema.safeParse(json) : { success: true as const, data }
}

/** A JSON value, or undefined: no JSON text stands for undefined. A byte order mark is no JSON either. */
function parseJson(value: Buffer | null): unknown {
  if (value === null || !isUtf8(value)) return undefined
  try {
    return JSON.parse(value.toString('utf8'))
  } catch {
    return undefined
  }
}

function describe(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'the value does not fit the schema'
  const field = issue.path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`,
    )
    .join('')
  return `${field === '' ? 'the value' : field}: ${issue.message}`
}

function rejected(reason: RejectionReason, message: string): Rejected {
  return { outcome: 'rejected', reason, message }
}
