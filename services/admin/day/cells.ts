import type { TopItem } from '@tally/contract'
import { type Cell, count, moneyCell } from '../http/cells.ts'
import { type Amounts, sumOf } from './settled.ts'

export const takingsCells = ({ total, refunded, takings }: Amounts): Cell[] =>
  [total, refunded, takings].map(moneyCell)

/** A payment method to a person: some tills name none. */
export const paymentName = (paymentMethod: string): string => paymentMethod || 'Not named'

export const unlistedName = 'Orders of days that the event does not list (in no sum)'

/** Numbers and amounts of an item. */
export const itemCells = ({ quantity, refundedQuantity, revenue, refundedRevenue }: TopItem): Cell[] => [
  count(quantity),
  count(refundedQuantity),
  ...[sumOf([revenue, refundedRevenue]), refundedRevenue, revenue].map(moneyCell),
]
