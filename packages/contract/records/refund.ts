import { z } from 'zod'
import { eventId, menuItemId, orderId, refundId, version } from '../values/ids.ts'
import { allLinesAreRight, maxCents, money } from '../values/money.ts'
import { timestamp } from '../values/time.ts'
import { maxLines, maxQuantity } from './order.ts'

/** How many of one menu item a line refunds. */
const quantity = z
  .number()
  .refine(Number.isInteger, 'must be an integer')
  .min(1, 'must be at least 1')
  .max(maxQuantity, `must be at most ${maxQuantity}`)
  .meta({ type: 'integer' })

const refundLine = z.object({ menuItemId, quantity, amount: money })

/**
 * A record of the refunds topic: the whole refund at one version. Without lines it refunds money only; the lines need
 * not add up to `amount` (docs/records.md, Refund).
 */
export const refund = z
  .object({
    eventId,
    refundId,
    version: version.nullish().transform(number => number ?? 1),
    orderId,
    refundedAt: timestamp,
    amount: money,
    lines: z
      .array(refundLine)
      .max(maxLines, `must have at most ${maxLines} lines`)
      .refine(lines => lines.reduce((sum, line) => sum + line.amount, 0) <= maxCents, {
        error: 'must add up to at most 99999999.99',
        when: allLinesAreRight,
      })
      .nullish()
      .transform(lines => lines ?? []),
  })
  .meta({ title: 'Refund' })
export type Refund = z.output<typeof refund>

/** The example of docs/records.md, Refund. */
export const refundExample = {
  eventId: '7c1e0000-0000-4000-8000-000000000001',
  refundId: 'R-77',
  version: 1,
  orderId: 'A-20260904-000123',
  refundedAt: '2026-09-04T20:02:00Z',
  amount: 12.5,
  lines: [{ menuItemId: 7, quantity: 1, amount: 12.5 }],
}
