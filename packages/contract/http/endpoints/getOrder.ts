import { z } from 'zod'
import { orderStatus } from '../../records/order.ts'
import { endpoint, envelope, euros, evening, eventMeta, eventPath, noParameters, utc } from '../endpoint.ts'

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

export const getOrder = endpoint({
  url: '/api/v1/events/:eventId/orders/:id',
  scope: 'orders:read',
  summary: 'One order',
  rules: "`items` are in the order of the record. No answer has a customer's name or e-mail address.",
  /** Any text is accepted as an order id: one that cannot exist is a 404, not a 400 (docs/api.md, Parameters). */
  params: eventPath.extend({ id: z.string().describe('The `id` of the order list, not displayOrderNumber') }),
  query: noParameters,
  answer: envelope('OrderEnvelope', orderAnswer, eventMeta),
  example: {
    data: {
      id: 'A-20260905-000123',
      displayOrderNumber: '123',
      status: 'Paid',
      areaId: 1,
      dayId: 42,
      orderDateTime: '2026-09-05T19:30:41Z',
      paymentMethod: 'Cash',
      amountPaid: 30,
      totalAmount: 27.5,
      effectiveAmount: 15,
      isTakeaway: false,
      tableNumber: '12',
      items: [
        { ...evening.fritto, quantity: 2, unitPrice: 12.5, note: null },
        { ...evening.acqua, quantity: 1, unitPrice: 2.5, note: 'cold' },
      ],
    },
    meta: evening.ofEvent,
  },
})
