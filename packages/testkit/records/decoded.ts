import { type Event, event, type Order, order, type Refund, refund } from '@tally/contract'
import * as records from './records.ts'

/** A line of an order as a record has it, in euros; its name defaults to "On the bill". */
export type Line = { menuItemId: number; itemName?: string; quantity: number; unitPrice: number }

export const burgers = (quantity: number, unitPrice = 8.5): Line => ({
  menuItemId: records.burger,
  itemName: 'Burger',
  quantity,
  unitPrice,
})

/** The event of records.ts, decoded: as the contract's schema returns it. */
export const anEvent = (fields: records.Fields = {}): Event => event.parse(records.anEvent(fields))

/** The order of records.ts, decoded. */
export function anOrder({
  items = [burgers(2)],
  ...fields
}: records.Fields & { items?: Line[] } = {}): Order {
  const named = items.map(line => ({ itemName: 'On the bill', ...line }))
  return order.parse(records.anOrder({ ...fields, items: named }))
}

/** The refund of records.ts, decoded. */
export const aRefund = (fields: records.Fields = {}): Refund => refund.parse(records.aRefund(fields))
