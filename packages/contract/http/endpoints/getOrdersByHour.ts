import { z } from 'zod'
import { currency, dayAndArea, dayMeta, endpoint, envelope, euros, evening, eventPath } from '../endpoint.ts'

const hourBucket = z
  .object({
    hour: z.int().describe("Hour of day in the event's time zone"),
    orderCount: z.int(),
    revenue: euros,
    currency,
  })
  .meta({ id: 'HourBucket' })
export type HourBucket = z.infer<typeof hourBucket>
export const hourFields = Object.keys(hourBucket.shape)

export const getOrdersByHour = endpoint({
  url: '/api/v1/events/:eventId/analytics/orders/by-hour',
  scope: 'analytics:read',
  summary: 'Orders and revenue of one day by hour',
  rules: 'Hours with at least one order, ascending.',
  params: eventPath,
  query: dayAndArea,
  answer: envelope('OrdersByHourEnvelope', z.array(hourBucket), dayMeta),
  example: {
    data: [
      { hour: 19, orderCount: 61, revenue: 902, currency: 'EUR' },
      { hour: 20, orderCount: 98, revenue: 1466.5, currency: 'EUR' },
      { hour: 21, orderCount: 55, revenue: 841.5, currency: 'EUR' },
    ],
    meta: evening.ofDay,
  },
})
