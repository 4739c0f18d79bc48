import { z } from 'zod'
import { maxInteger } from '../../values/ids.ts'
import { dayAndArea, dayMeta, endpoint, envelope, evening, eventPath } from '../endpoint.ts'

const itemCount = z
  .object({
    menuItemId: z.int(),
    itemName: z.string(),
    quantitySold: z.int().describe('Net of refunds and of what was given back: may be below zero'),
    quantityRefunded: z.int().describe('Already subtracted from quantitySold'),
  })
  .meta({ id: 'ItemCount' })
export type ItemCount = z.infer<typeof itemCount>

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

export const getItemCounts = endpoint({
  url: '/api/v1/events/:eventId/live/item-counts',
  scope: 'analytics:read',
  summary: 'Portions sold per menu item, made for frequent polling',
  rules:
    'Sorted by `menuItemId` ascending. With `menuItemIds`, one row for each id, 0 if nothing was sold. `quantitySold` is net of `quantityRefunded`. `areaId` is ignored.',
  params: eventPath,
  query: z.object({
    dayId: dayAndArea.shape.dayId,
    menuItemIds: menuItemIds
      .optional()
      .describe('Comma-separated; default: every item with a confirmed order on the day'),
  }),
  answer: envelope('ItemCountsEnvelope', z.array(itemCount), dayMeta),
  example: {
    data: [
      { ...evening.fritto, quantitySold: 203, quantityRefunded: 1 },
      { ...evening.acqua, quantitySold: 286, quantityRefunded: 0 },
    ],
    meta: evening.ofDay,
  },
})
