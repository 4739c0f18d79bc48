import { z } from 'zod'
import { areaId, dayId, eventId, menuItemId, orderId, version } from '../values/ids.ts'
import { maxCents, money } from '../values/money.ts'
import { name, text } from '../values/text.ts'
import { timestamp } from '../values/time.ts'

export const orderStatuses = [
  'PreOrder',
  'Pending',
  'Paid',
  'Preparing',
  'ReadyForPickup',
  'Completed',
  'Cancelled',
] as const
export const orderStatus = z.enum(orderStatuses)
export type OrderStatus = z.infer<typeof orderStatus>

export const maxQuantity = 100_000

/** How many of one menu item a line sells or refunds. */
export const quantity = z
  .number()
  .refine(Number.isInteger, 'must be an integer')
  .min(1, 'must be at least 1')
  .max(maxQuantity, `must be at most ${maxQuantity}`)
  .meta({ type: 'integer' })

const orNull = (length: number) =>
  text(0, length)
    .nullish()
    .transform(value => value ?? null)

export const maxLines = 500

const orderLine = z.object({ menuItemId, itemName: name, quantity, unitPrice: money, note: orNull(1000) })
export type OrderLine = z.output<typeof orderLine>

/** A record of the orders topic: the whole order at one version (docs/records.md, Order). */
export const order = z
  .object({
    eventId,
    orderId,
    version,
    displayOrderNumber: name,
    status: orderStatus,
    areaId,
    dayId,
    orderDateTime: timestamp,
    paymentMethod: text(0, 200),
    amountPaid: money,
    totalAmount: money,
    isTakeaway: z.boolean(),
    tableNumber: orNull(50),
    items: z
      .array(orderLine)
      .max(maxLines, `must have at most ${maxLines} lines`)
      .refine(lines => grossOf(lines) <= maxCents, 'must add up to at most 99999999.99'),
  })
  .meta({ title: 'Order' })
export type Order = z.output<typeof order>

/** The sum of the lines, in cents. */
export function grossOf(lines: OrderLine[]): number {
  return lines.reduce((sum, { quantity, unitPrice }) => sum + quantity * unitPrice, 0)
}
