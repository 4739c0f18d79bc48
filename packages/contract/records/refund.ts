import { z } from 'zod'
import { eventId, menuItemId, orderId, refundId } from '../values/ids.ts'
import { money } from '../values/money.ts'
import { timestamp } from '../values/time.ts'
import { quantity } from './order.ts'

const refundLine = z.object({ menuItemId, quantity, amount: money })

/** A record of the refunds topic; without lines it refunds money only (docs/records.md, Refund). */
export const refund = z
  .object({
    eventId,
    refundId,
    orderId,
    refundedAt: timestamp,
    amount: money,
    lines: z
      .array(refundLine)
      .max(500, 'must have at most 500 lines')
      .nullish()
      .transform(lines => lines ?? []),
  })
  .refine(({ amount, lines }) => lines.reduce((sum, line) => sum + line.amount, 0) <= amount, {
    path: ['lines'],
    message: 'must add up to at most amount',
  })
  .meta({ title: 'Refund' })
export type Refund = z.output<typeof refund>
