import { z } from 'zod'
import { currency, dayAndArea, dayMeta, endpoint, envelope, euros, evening, eventPath } from '../endpoint.ts'

const kpisAnswer = z
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
export const kpisFields = Object.keys(kpisAnswer.shape)

export const getKpis = endpoint({
  url: '/api/v1/events/:eventId/analytics/kpis',
  scope: 'analytics:read',
  summary: 'Orders, sales and items of one day',
  params: eventPath,
  query: dayAndArea,
  answer: envelope('KpisEnvelope', kpisAnswer, dayMeta),
  example: {
    data: { totalOrders: 214, totalSales: 3210, currency: 'EUR', averageOrderValue: 15, totalItemsSold: 489 },
    meta: evening.ofDay,
  },
})
