import { z } from 'zod'
import {
  currency,
  dayAndArea,
  dayMeta,
  endpoint,
  envelope,
  euros,
  evening,
  eventPath,
  integerParameter,
} from '../endpoint.ts'

const topItem = z
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

export const getTopItems = endpoint({
  url: '/api/v1/events/:eventId/analytics/orders/top-items',
  scope: 'analytics:read',
  summary: 'What sells best, by quantity net of refunds',
  rules:
    'Sorted by `quantity` descending, `revenue` descending, `menuItemId` ascending. `quantity` and `revenue` are net of refunds: `refundedQuantity` and `refundedRevenue` are already subtracted.',
  params: eventPath,
  query: z.object({
    ...dayAndArea.shape,
    limit: integerParameter(1, 100).default(10).describe('Default: 10'),
  }),
  answer: envelope('TopItemsEnvelope', z.array(topItem), dayMeta),
  example: {
    data: [
      {
        ...evening.acqua,
        categoryName: 'Drinks',
        quantity: 286,
        revenue: 715,
        refundedQuantity: 0,
        refundedRevenue: 0,
        currency: 'EUR',
      },
      {
        ...evening.fritto,
        categoryName: 'Fish',
        quantity: 203,
        revenue: 2537.5,
        refundedQuantity: 1,
        refundedRevenue: 12.5,
        currency: 'EUR',
      },
    ],
    meta: evening.ofDay,
  },
})
