import type { TopItem } from '@tally/contract'
import { type Cell, count, moneyCell } from '../http/cells.ts'
import { sumOf, type Takings } from './settled.ts'

export const takingsCells = ({
  total,
  refunded,
  takings,
}: Pick<Takings, 'total' | 'refunded' | 'takings'>): Cell[] => [
  moneyCell(total),
  moneyCell(refunded),
  moneyCell(takings),
]

/** A payment method to a person: some tills name none. */
export const paymentName = (paymentMethod: string): string => paymentMethod || 'Not named'

export const unlistedName = 'Orders of days that the event does not list (in no sum)'

/** Numbers and amounts of an item. */
export const itemCells = ({ quantity, refundedQuantity, revenue, refundedRevenue }: TopItem): Cell[] => [
  count(quantity),
  count(refundedQuantity),
  ...takingsCells({
    total: sumOf([revenue, refundedRevenue]),
    refunded: refundedRevenue,
    takings: revenue,
  }),
]
