import type { MenuItemId, Refund } from '@tally/contract'
import { getOrInsertComputed } from './getOrInsertComputed.ts'

/**
 * The sums of an order's refunds: `amount` of all, `lines` per menu item, ascending, of those since refunds are tracked
 * per line (docs/records.md, Counting); money in cents.
 */
export type RefundSums = { amount: number; lines: ItemSums[] }
export type ItemSums = { menuItemId: MenuItemId; quantity: number; amount: number }
export const noRefunds: RefundSums = { amount: 0, lines: [] }

/** Before this instant refunds were not tracked per line: REFUND_LINES_SINCE (docs/records.md, Counting). */
export const refundLinesSince = Date.UTC(2026, 7, 19)

/**
 * Sums are capped here: an order's amounts are smaller, and a double stays exact. Only after 100,000 refunds of one
 * order with the largest amount is a sum too small when they are taken back.
 */
const maxSum = 1e15

export type RefundAmounts = Pick<Refund, 'amount' | 'refundedAt' | 'lines'>

/** A refund's version that is applied now, and the one that it replaces. */
export type RefundChange = { before: RefundAmounts | undefined; after: RefundAmounts }

/** Applies changes of refunds to the sums of their order, in time linear in the lines of both. */
export function changeRefunds(sums: RefundSums, changes: RefundChange[]): RefundSums {
  let { amount } = sums
  let items: Map<MenuItemId, ItemSums> | undefined
  const add = (sign: 1 | -1, refund: RefundAmounts): void => {
    amount = capped(amount + sign * refund.amount)
    if (refund.refundedAt < refundLinesSince || refund.lines.length === 0) return
    items ??= new Map(sums.lines.map(line => [line.menuItemId, { ...line }]))
    addLines(items, sign, refund.lines)
  }
  for (const { after } of changes) add(1, after)
  for (const { before } of changes) if (before !== undefined) add(-1, before)
  return { amount, lines: items === undefined ? sums.lines : inOrder(items) }
}

/** The lines of a refund by menu item, ascending, those of one item added up. */
export function linesByItem(lines: readonly ItemSums[]): ItemSums[] {
  const items = new Map<MenuItemId, ItemSums>()
  addLines(items, 1, lines)
  return inOrder(items)
}

function addLines(items: Map<MenuItemId, ItemSums>, sign: 1 | -1, lines: readonly ItemSums[]): void {
  for (const { menuItemId, quantity, amount } of lines) {
    const item = getOrInsertComputed(items, menuItemId, () => ({ menuItemId, quantity: 0, amount: 0 }))
    item.quantity = capped(item.quantity + sign * quantity)
    item.amount = capped(item.amount + sign * amount)
  }
}

const capped = (sum: number): number => Math.max(0, Math.min(maxSum, sum))

/** Without the items of which all refunds were taken back: a line refunds at least one. */
const inOrder = (items: Map<MenuItemId, ItemSums>): ItemSums[] =>
  [...items.values()]
    .filter(({ quantity }) => quantity > 0)
    .sort((one, other) => one.menuItemId - other.menuItemId)
