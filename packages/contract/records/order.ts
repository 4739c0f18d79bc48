import { z } from 'zod'
import { areaId, dayId, eventId, menuItemId, orderId, version } from '../values/ids.ts'
import { maxCents, signedMoney } from '../values/money.ts'
import { name, text } from '../values/text.ts'
import { timestamp } from '../values/time.ts'
import { allLinesAreRight } from './sentences.ts'

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

/** How many of one menu item a line sells; below zero, how many it gives back (docs/records.md, Order). */
const signedQuantity = z
  .number()
  .refine(Number.isInteger, 'must be an integer')
  .min(-maxQuantity, `must be at least ${-maxQuantity}`)
  .max(maxQuantity, `must be at most ${maxQuantity}`)
  .refine(quantity => quantity !== 0, 'must not be 0')
  .meta({ type: 'integer', not: { const: 0 } })

const orNull = (length: number) =>
  text(0, length)
    .nullish()
    .transform(value => value ?? null)

export const maxLines = 500

const orderLine = z.object({
  menuItemId,
  itemName: name,
  quantity: signedQuantity,
  unitPrice: signedMoney,
  note: orNull(1000),
})
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
    amountPaid: signedMoney,
    totalAmount: signedMoney,
    isTakeaway: z.boolean(),
    tableNumber: orNull(50),
    items: z
      .array(orderLine)
      .max(maxLines, `must have at most ${maxLines} lines`)
      .refine(lines => unsignedGrossOf(lines) <= maxCents, {
        error: 'must add up to at most 99999999.99, each |quantity × unitPrice|',
        when: allLinesAreRight,
      }),
  })
  .meta({ title: 'Order' })
export type Order = z.output<typeof order>

/** The sum of the lines' |quantity × unitPrice|, in cents: what is given back adds to it, too. */
export function unsignedGrossOf(lines: OrderLine[]): number {
  return lines.reduce((sum, { quantity, unitPrice }) => sum + Math.abs(quantity * unitPrice), 0)
}
