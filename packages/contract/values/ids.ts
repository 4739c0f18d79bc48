import { z } from 'zod'

/** A UUID in any case. */
export const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

/** A UUID of any version in any case; lower case when parsed (docs/records.md, Values). */
const uuid = z
  .string()
  .regex(uuidPattern, 'must be a UUID (8-4-4-4-12 hex digits)')
  .toLowerCase()
  .meta({ format: 'uuid' })

export const eventId = uuid.brand<'EventId'>()
export const organizationId = uuid.brand<'OrganizationId'>()
export type EventId = z.infer<typeof eventId>
export type OrganizationId = z.infer<typeof organizationId>

/** The id of the list of events, which does not concern a single event (docs/api.md, Answers). */
export const noEventId = '00000000-0000-0000-0000-000000000000' as EventId

/** An id that the upstream assigns; `.` and `..` are not valid either. */
export const outerIdPattern = /^[\x21-\x2e\x30-\x7e]{1,64}$/

const outerId = () =>
  z
    .string()
    .regex(outerIdPattern, 'must be 1 to 64 visible ASCII characters without "/"')
    .refine(id => id !== '.' && id !== '..', 'must not be "." or ".."')
    .meta({ not: { enum: ['.', '..'] } })

/** The upstream's id of an order, unique within its event (docs/records.md, Order). */
export const orderId = outerId().brand<'OrderId'>()
/** The upstream's id of a refund, unique within its event (docs/records.md, Refund). */
export const refundId = outerId().brand<'RefundId'>()
export type OrderId = z.infer<typeof orderId>
export type RefundId = z.infer<typeof refundId>

export const maxInteger = 2_147_483_647

const integerId = () =>
  z
    .number()
    .refine(Number.isInteger, 'must be an integer')
    .min(1, 'must be at least 1')
    .max(maxInteger, `must be at most ${maxInteger}`)
    .meta({ type: 'integer' })

export const dayId = integerId().brand<'DayId'>()
export const areaId = integerId().brand<'AreaId'>()
export const menuItemId = integerId().brand<'MenuItemId'>()
export type DayId = z.infer<typeof dayId>
export type AreaId = z.infer<typeof areaId>
export type MenuItemId = z.infer<typeof menuItemId>

/** A version that grows with every change of its entity: 1 to 2^53-1 (docs/records.md, Values). */
export const version = z
  .number()
  .refine(Number.isSafeInteger, 'must be an integer up to 2^53-1')
  .min(1, 'must be at least 1')
  .meta({ type: 'integer', maximum: Number.MAX_SAFE_INTEGER })
