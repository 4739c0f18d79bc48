import { z } from 'zod'
import { orderStatus } from '../records/order.ts'
import { date } from '../values/time.ts'

const currency = z.literal('EUR')
const utc = z.iso.datetime()
const euros = z.number().describe('EUR')

export const eventAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    startDate: utc,
    isOpen: z.boolean().describe('True exactly when currentDay is not null'),
    currentDay: z
      .object({ id: z.int(), date, openedAt: utc })
      .meta({ id: 'CurrentDay' })
      .nullable()
      .describe('The day that is open now'),
  })
  .meta({ id: 'Event' })
export type EventAnswer = z.infer<typeof eventAnswer>

export const kpisAnswer = z
  .object({
    totalOrders: z.int(),
    totalSales: euros,
    currency,
    averageOrderValue: euros.describe(
      'totalSales / totalOrders rounded to the cent, halves away from zero; 0 without orders',
    ),
    totalItemsSold: z.int().describe('Net of refunds and of what was given back: may be below zero'),
  })
  .meta({ id: 'Kpis' })
export type KpisAnswer = z.infer<typeof kpisAnswer>

export const trendPoint = z
  .object({ date, totalSales: euros, orderCount: z.int(), currency })
  .meta({ id: 'SalesTrendPoint' })
export type TrendPoint = z.infer<typeof trendPoint>

export const hourBucket = z
  .object({
    hour: z.int().describe("Hour of day in the event's time zone"),
    orderCount: z.int(),
    revenue: euros,
    currency,
  })
  .meta({ id: 'HourBucket' })
export type HourBucket = z.infer<typeof hourBucket>

export const topItem = z
  .object({
    menuItemId: z.int(),
    itemName: z.string(),
    categoryName: z.string(),
    quantity: z.int().describe('Net of refunds and of what was given back: may be below zero'),
    revenue: euros.describe('Net of refunds and of what was given back, EUR'),
    refundedQuantity: z.int().describe('Already subtracted from quantity'),
    refundedRevenue: euros.describe('Already subtracted from revenue'),
    currency,
  })
  .meta({ id: 'TopItem' })
export type TopItem = z.infer<typeof topItem>

export const itemCount = z
  .object({
    menuItemId: z.int(),
    itemName: z.string(),
    quantitySold: z.int().describe('Net of refunds and of what was given back: may be below zero'),
    quantityRefunded: z.int().describe('Already subtracted from quantitySold'),
  })
  .meta({ id: 'ItemCount' })
export type ItemCount = z.infer<typeof itemCount>

const orderItem = z
  .object({
    menuItemId: z.int(),
    itemName: z.string(),
    quantity: z.int().describe('Below zero: given back'),
    unitPrice: euros.describe('EUR; below zero: given back'),
    note: z.string().nullable(),
  })
  .meta({ id: 'OrderItem' })

export const orderAnswer = z
  .object({
    id: z.string(),
    displayOrderNumber: z.string(),
    status: orderStatus,
    areaId: z.int(),
    dayId: z.int(),
    orderDateTime: utc,
    paymentMethod: z.string(),
    amountPaid: euros,
    totalAmount: euros,
    effectiveAmount: euros.describe(
      'totalAmount less all refunds, which take at most what was charged; below 0 if totalAmount is',
    ),
    isTakeaway: z.boolean(),
    tableNumber: z.string().nullable(),
    items: z.array(orderItem),
  })
  .meta({ id: 'Order' })
export type OrderAnswer = z.infer<typeof orderAnswer>
