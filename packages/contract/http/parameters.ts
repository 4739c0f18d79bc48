import { z } from 'zod'
import { orderStatus } from '../records/order.ts'
import { eventId, maxInteger } from '../values/ids.ts'

/**
 * A whole number from `from` to `to` in a path or query, in plain decimal digits; not `042`, `+42`, `4.0` or the empty
 * string (docs/api.md, Parameters).
 */
function integerParameter(from: number, to: number) {
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,9})$/, `must be a whole number from ${from} to ${to} in plain digits`)
    .transform(Number)
    .refine(
      value => value >= from && value <= to,
      `must be a whole number from ${from} to ${to} in plain digits`,
    )
    .meta({ type: 'integer', minimum: from, maximum: to })
}

const id = integerParameter(1, maxInteger)
const maxIds = 200

const menuItemIds = z
  .string()
  .regex(
    /^[1-9]\d{0,9}(,[1-9]\d{0,9})*$/,
    'must be menu item ids with single commas and no spaces between them',
  )
  .transform(list => [...new Set(list.split(',').map(Number))])
  .refine(ids => ids.length <= maxIds, `must hold at most ${maxIds} different ids`)
  .refine(ids => ids.every(id => id <= maxInteger), `must hold ids from 1 to ${maxInteger}`)

export const noParameters = z.object({})
const event = eventId.describe('Id of the event, in either case')
export const eventPath = z.object({ eventId: event })
/** Any text is accepted as an order id: one that cannot exist is a 404, not a 400 (docs/api.md, Parameters). */
export const orderPath = z.object({
  eventId: event,
  id: z.string().describe('The `id` of the order list, not displayOrderNumber'),
})

export const dayAndArea = z.object({
  dayId: id.optional().describe('Default: the open day, else the one closed last'),
  areaId: id.optional().describe('Default: all areas'),
})
export const trendQuery = z.object({
  days: integerParameter(1, 365).default(7).describe('Default: 7'),
  areaId: dayAndArea.shape.areaId,
})
export const topItemsQuery = z.object({
  ...dayAndArea.shape,
  limit: integerParameter(1, 100).default(10).describe('Default: 10'),
})
export const itemCountsQuery = z.object({
  dayId: dayAndArea.shape.dayId,
  menuItemIds: menuItemIds
    .optional()
    .describe('Comma-separated; default: every item with a confirmed order on the day'),
})
export const ordersQuery = z.object({
  dayId: id.optional().describe('Default: all days'),
  areaId: id.optional().describe('Default: all areas'),
  status: orderStatus.optional().describe('Default: everything but Cancelled'),
  page: integerParameter(1, 1_000_000).default(1).describe('Default: 1'),
  pageSize: integerParameter(1, 100).default(20).describe('Default: 20'),
})
