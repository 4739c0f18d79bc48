import { z } from 'zod'
import { date } from '../../values/time.ts'
import {
  currency,
  dayAndArea,
  endpoint,
  envelope,
  euros,
  evening,
  eventMeta,
  eventPath,
  integerParameter,
} from '../endpoint.ts'

const trendPoint = z
  .object({ date, totalSales: euros, orderCount: z.int(), currency })
  .meta({ id: 'SalesTrendPoint' })
export type TrendPoint = z.infer<typeof trendPoint>

export const getSalesTrend = endpoint({
  url: '/api/v1/events/:eventId/analytics/sales-trend',
  scope: 'analytics:read',
  summary: "Daily sales over the last dates of the event's days",
  rules: "Sorted by `date` ascending; the dates of the event's days, not of the calendar.",
  params: eventPath,
  query: z.object({
    days: integerParameter(1, 365).default(7).describe('Default: 7'),
    areaId: dayAndArea.shape.areaId,
  }),
  answer: envelope('SalesTrendEnvelope', z.array(trendPoint), eventMeta),
  example: {
    data: [
      { date: '2026-09-04', totalSales: 2610.5, orderCount: 187, currency: 'EUR' },
      { date: '2026-09-05', totalSales: 3210, orderCount: 214, currency: 'EUR' },
    ],
    meta: evening.ofEvent,
  },
})
