import { decodeRecord, type RecordType } from '../records/decode.ts'
import { eventExample } from '../records/event.ts'
import { orderExample } from '../records/order.ts'
import { organizationExample } from '../records/organization.ts'
import { refundExample } from '../records/refund.ts'

type Fields = Record<string, unknown>

/** A valid record of each type. */
export const goodRecords = {
  organizations: organizationExample,
  events: eventExample,
  orders: orderExample,
  refunds: refundExample,
}

/** Decodes the valid record with some fields replaced, under the right key. */
export function decodeWith<Type extends RecordType>(type: Type, fields: Fields = {}) {
  const value: Fields = { ...goodRecords[type], ...fields }
  const id = type === 'organizations' ? value.organizationId : value.eventId
  return decodeText(type, JSON.stringify(value), String(id).toLowerCase())
}

/** Decodes a text under a key; by default the key of the valid record. */
export function decodeText<Type extends RecordType>(type: Type, text: string | Buffer, key?: string) {
  const own = type === 'organizations' ? organizationExample.organizationId : eventExample.eventId
  return decodeRecord(type, Buffer.from(key ?? own, 'latin1'), Buffer.from(text))
}

/** The decoded value; throws if the record is rejected. */
export function readWith<Type extends RecordType>(type: Type, fields: Fields = {}) {
  const decoded = decodeWith(type, fields)
  if (decoded.outcome === 'rejected') throw new Error(decoded.message)
  return decoded.value
}

/** Why a record with these fields is rejected; `good` if it is not. */
export function judged(type: RecordType, fields: Fields): string {
  const decoded = decodeWith(type, fields)
  return decoded.outcome === 'rejected' ? `${decoded.reason}: ${decoded.message}` : 'good'
}
