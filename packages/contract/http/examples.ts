import type { z } from 'zod'
import type { EndpointName, endpoints } from './endpoints.ts'
import { type ProblemOf, type ProblemType, problemBody } from './problems.ts'

const eventId = '7c1e0000-0000-4000-8000-000000000001'
const noEventId = '00000000-0000-0000-0000-000000000000'
const asOf = '2026-09-05T19:31:07.100Z'
const generatedAt = '2026-09-05T19:31:07.512Z'
const currency = 'EUR'

const event = {
  id: eventId,
  name: 'Sagra del Pesce',
  startDate: '2026-09-04T16:00:00Z',
  isOpen: true,
  currentDay: { id: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z' },
}
const order = {
  id: 'A-20260905-000123',
  displayOrderNumber: '123',
  status: 'Paid' as const,
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
    { menuItemId: 7, itemName: 'Fritto misto', quantity: 2, unitPrice: 12.5, note: null },
    { menuItemId: 9, itemName: 'Acqua', quantity: 1, unitPrice: 2.5, note: 'cold' },
  ],
}
const fritto = { menuItemId: 7, itemName: 'Fritto misto' }
const acqua = { menuItemId: 9, itemName: 'Acqua' }

const ofEvent = { generatedAt, eventId, asOf }
const ofDay = { ...ofEvent, dayId: 42 }

/** An answer of each endpoint, all of one evening: their figures add up. */
export const answerExamples: { [Name in EndpointName]: z.output<(typeof endpoints)[Name]['answer']> } = {
  listEvents: { data: [event], meta: { generatedAt, eventId: noEventId } },
  getEvent: { data: event, meta: ofEvent },
  getKpis: {
    data: { totalOrders: 214, totalSales: 3210, currency, averageOrderValue: 15, totalItemsSold: 489 },
    meta: ofDay,
  },
  getSalesTrend: {
    data: [
      { date: '2026-09-04', totalSales: 2610.5, orderCount: 187, currency },
      { date: '2026-09-05', totalSales: 3210, orderCount: 214, currency },
    ],
    meta: ofEvent,
  },
  getOrdersByHour: {
    data: [
      { hour: 19, orderCount: 61, revenue: 902, currency },
      { hour: 20, orderCount: 98, revenue: 1466.5, currency },
      { hour: 21, orderCount: 55, revenue: 841.5, currency },
    ],
    meta: ofDay,
  },
  getTopItems: {
    data: [
      {
        ...acqua,
        categoryName: 'Drinks',
        quantity: 286,
        revenue: 715,
        refundedQuantity: 0,
        refundedRevenue: 0,
        currency,
      },
      {
        ...fritto,
        categoryName: 'Fish',
        quantity: 203,
        revenue: 2537.5,
        refundedQuantity: 1,
        refundedRevenue: 12.5,
        currency,
      },
    ],
    meta: ofDay,
  },
  getItemCounts: {
    data: [
      { ...fritto, quantitySold: 203, quantityRefunded: 1 },
      { ...acqua, quantitySold: 286, quantityRefunded: 0 },
    ],
    meta: ofDay,
  },
  listOrders: {
    data: [order],
    meta: { ...ofEvent, pagination: { page: 1, pageSize: 20, totalCount: 1, totalPages: 1 } },
  },
  getOrder: { data: order, meta: ofEvent },
}

const request: ProblemOf = {
  instance: `/api/v1/events/${eventId}/analytics/orders/top-items`,
  requestId: '5f0c8a52-5d3e-4b0e-9d43-0c6f1d2b7a90',
}

/** What a problem says of its request: the others are of a request for top items. */
const requests: Partial<Record<ProblemType, Partial<ProblemOf>>> = {
  'invalid-parameters': {
    errors: [{ parameter: 'limit', message: 'must be a whole number from 1 to 100 in plain digits' }],
  },
  'page-too-large': {
    instance: `/api/v1/events/${eventId}/orders`,
    errors: [{ parameter: 'pageSize', message: 'must be at most 13 here' }],
  },
}

/** The body of a problem of a type. */
export function problemExample(type: ProblemType) {
  return problemBody(type, { ...request, ...requests[type] })
}
