import { z } from 'zod'
import {
  type AreaId,
  areaId,
  type DayId,
  dayId,
  type EventId,
  eventId,
  type MenuItemId,
  maxInteger,
  menuItemId,
  type OrderId,
  orderId,
  outerIdPattern,
  uuidPattern,
  version,
} from '../values/ids.ts'
import { allLinesAreRight, type Cents, maxCents, maxEuros, signedMoney, toCents } from '../values/money.ts'
import { isObject, name, text } from '../values/text.ts'
import { parseTimestamp, timestamp } from '../values/time.ts'

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

/** The example of docs/records.md, Order. */
export const orderExample = {
  eventId: '7c1e0000-0000-4000-8000-000000000001',
  orderId: 'A-20260904-000123',
  version: 2,
  displayOrderNumber: '123',
  status: 'Paid',
  areaId: 1,
  dayId: 41,
  orderDateTime: '2026-09-04T19:31:07Z',
  paymentMethod: 'Cash',
  amountPaid: 30,
  totalAmount: 27.5,
  isTakeaway: false,
  tableNumber: '12',
  items: [
    { menuItemId: 7, itemName: 'Fritto misto', quantity: 2, unitPrice: 12.5, note: null },
    { menuItemId: 9, itemName: 'Acqua', quantity: 1, unitPrice: 2.5, note: 'cold' },
  ],
}

/** The sum of the lines' |quantity × unitPrice|, in cents: what is given back adds to it, too. */
function unsignedGrossOf(lines: OrderLine[]): number {
  return lines.reduce((sum, { quantity, unitPrice }) => sum + Math.abs(quantity * unitPrice), 0)
}

/**
 * Reads a valid order without the schema; undefined if the schema has to judge, which also gives the reason. Nearly all
 * records are valid orders, and for one of three lines the schema takes 8 µs, this less than 1 µs.
 * order.unit.test.ts checks that both accept the same orders. `text` is the JSON text that `json` was parsed from.
 */
export function readOrder(json: unknown, text: string): Order | undefined {
  if (!isObject(json) || mayBeUnstorable(text)) return undefined
  const { eventId, orderId, version, displayOrderNumber, status, paymentMethod, isTakeaway } = json
  if (typeof eventId !== 'string' || !uuidPattern.test(eventId)) return undefined
  if (typeof orderId !== 'string' || !outerIdPattern.test(orderId)) return undefined
  if (orderId === '.' || orderId === '..') return undefined
  if (!isInteger(version, Number.MAX_SAFE_INTEGER)) return undefined
  if (!isText(displayOrderNumber, 1, 200) || !isText(paymentMethod, 0, 200)) return undefined
  if (!isStatus(status) || typeof isTakeaway !== 'boolean') return undefined
  const { areaId, dayId, orderDateTime, amountPaid, totalAmount, tableNumber = null, items } = json
  if (!isInteger(areaId, maxInteger) || !isInteger(dayId, maxInteger)) return undefined
  if (tableNumber !== null && !isText(tableNumber, 0, 50)) return undefined
  const paidCents = readCents(amountPaid)
  const totalCents = readCents(totalAmount)
  if (paidCents === undefined || totalCents === undefined) return undefined
  const lines = readLines(items)
  const orderedAt = typeof orderDateTime === 'string' ? parseTimestamp(orderDateTime) : undefined
  if (lines === undefined || orderedAt === undefined) return undefined
  return {
    eventId: eventId.toLowerCase() as EventId,
    orderId: orderId as OrderId,
    version,
    displayOrderNumber,
    status,
    areaId: areaId as AreaId,
    dayId: dayId as DayId,
    orderDateTime: orderedAt,
    paymentMethod,
    amountPaid: paidCents,
    totalAmount: totalCents,
    isTakeaway,
    tableNumber,
    items: lines,
  }
}

function readLines(json: unknown): OrderLine[] | undefined {
  if (!Array.isArray(json) || json.length > maxLines) return undefined
  // Of the right length at once: `push` would reserve room for 17 lines, and orders are kept until they are written.
  const lines = new Array<OrderLine>(json.length)
  for (let n = 0; n < json.length; n++) {
    const line = readLine(json[n])
    if (line === undefined) return undefined
    lines[n] = line
  }
  return unsignedGrossOf(lines) <= maxCents ? lines : undefined
}

function readLine(json: unknown): OrderLine | undefined {
  if (!isObject(json)) return undefined
  const { menuItemId, itemName, quantity, unitPrice, note = null } = json
  if (!isInteger(menuItemId, maxInteger) || !isQuantity(quantity)) return undefined
  if (!isText(itemName, 1, 200)) return undefined
  if (note !== null && !isText(note, 0, 1000)) return undefined
  const cents = readCents(unitPrice)
  if (cents === undefined) return undefined
  return { menuItemId: menuItemId as MenuItemId, itemName, quantity, unitPrice: cents, note }
}

/**
 * Whether any text of a valid JSON text may break `isStorable` (values/text.ts): U+0000 and lone surrogates can only be
 * written as escapes. To look at each of a dozen texts instead takes 0.4 µs.
 */
const mayBeUnstorable = (text: string): boolean => text.includes('\\u') && /\\u(?:0000|d[89a-f])/i.test(text)

function isText(json: unknown, min: number, max: number): json is string {
  return typeof json === 'string' && json.length >= min && json.length <= max
}

function isInteger(json: unknown, max: number): json is number {
  return typeof json === 'number' && json >= 1 && json <= max && Number.isInteger(json)
}

function isQuantity(json: unknown): json is number {
  return Number.isInteger(json) && json !== 0 && Math.abs(json as number) <= maxQuantity
}

const statuses = new Set<unknown>(orderStatuses)
function isStatus(json: unknown): json is OrderStatus {
  return statuses.has(json)
}

function readCents(json: unknown): Cents | undefined {
  if (typeof json !== 'number' || !(json >= -maxEuros && json <= maxEuros)) return undefined
  const cents = toCents(json)
  return cents / 100 === json ? cents : undefined
}
