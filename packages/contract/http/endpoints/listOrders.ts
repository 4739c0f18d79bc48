import { z } from 'zod'
import { orderStatus } from '../../records/order.ts'
import { endpoint, envelope, evening, eventPath, id, integerParameter, pageMeta } from '../endpoint.ts'
import { getOrder, orderAnswer } from './getOrder.ts'

export const listOrders = endpoint({
  url: '/api/v1/events/:eventId/orders',
  scope: 'orders:read',
  summary: "The event's orders, newest first",
  rules: 'Sorted by `orderDateTime` descending, then `id` descending in byte order.',
  params: eventPath,
  query: z.object({
    dayId: id.optional().describe('Default: all days'),
    areaId: id.optional().describe('Default: all areas'),
    status: orderStatus.optional().describe('Default: everything but Cancelled'),
    page: integerParameter(1, 1_000_000).default(1).describe('Default: 1'),
    pageSize: integerParameter(1, 100).default(20).describe('Default: 20'),
  }),
  answer: envelope('OrderListEnvelope', z.array(orderAnswer), pageMeta),
  example: {
    data: [getOrder.example.data],
    meta: { ...evening.ofEvent, pagination: { page: 1, pageSize: 20, totalCount: 1, totalPages: 1 } },
  },
})
