import { counter } from '../counting/counter.ts'

/** Menu items per row: row `block` has ids 16 × block to 16 × block + 15. */
export const itemsPerBlock = 16

/** Confirmed orders by menu item, before refunds and apart from them; the ids of a menu are close together. */
export const items = counter({
  table: 'item_counters',
  key: { day_id: 'int', area_id: 'int', item: 'int' },
  amounts: {
    orders: 'bigint',
    quantity: 'bigint',
    grossCents: 'bigint',
    refundedQuantity: 'bigint',
    refundedCents: 'bigint',
  },
  blocks: { size: itemsPerBlock, seldom: ['refundedQuantity', 'refundedCents'] },
  count(rows, facts, sign) {
    for (const { menuItemId, quantity, grossCents, refundedQuantity, refundedCents } of facts.items) {
      const item = rows.at(menuItemId)
      item.orders += sign
      item.quantity += sign * quantity
      item.grossCents += sign * grossCents
      item.refundedQuantity += sign * refundedQuantity
      item.refundedCents += sign * refundedCents
    }
  },
})
