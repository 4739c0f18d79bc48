/**
 * version, day, area, whether confirmed, whether listed, total in cents, moment; then of each line item, quantity,
 * cents.
 */
export type OrderRow = [number, number, number, number, number, number, number, ...number[]]
const firstLine = 7

/** Sums of one event: of `day/area` and `day/all`, and of the items of a day. */
export type EventTotals = {
  sales: Map<string, { orders: number; cents: number; items: number }>
  items: Map<number, Map<number, { quantity: number; refunded: number }>>
}

export const emptyTotals = (): EventTotals => ({ sales: new Map(), items: new Map() })

// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
type Any = any

const cents = (euros: number) => Math.round(euros * 100)
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
const refundLinesSince = Date.parse('2026-08-19T00:00:00Z')

/** Adds one order with all of its refunds, as docs/records.md, Counting, defines it. */
export function addFigures({ sales, items }: EventTotals, row: OrderRow, refunds: Any[]): void {
  const [, day, area, isConfirmed, , total] = row
  if (isConfirmed === 0) return
  const ordered = new Map<number, number>()
  for (let at = firstLine; at < row.length; at += 3) {
    const item = row[at] as number
    ordered.set(item, (ordered.get(item) ?? 0) + (row[at + 1] as number))
  }
  const back = refunds
    .filter(({ refundedAt }) => Date.parse(refundedAt) >= refundLinesSince)
    .flatMap(({ lines }) => lines ?? [])
  const own = items.get(day) ?? new Map<number, { quantity: number; refunded: number }>()
  items.set(day, own)
  let sold = 0
  for (const [item, quantity] of ordered) {
    const asked = sum(back.filter(line => line.menuItemId === item).map(line => line.quantity))
    const refunded = Math.min(quantity, asked)
    const known = own.get(item) ?? { quantity: 0, refunded: 0 }
    own.set(item, {
      quantity: known.quantity + quantity - refunded,
      refunded: known.refunded + refunded,
    })
    sold += quantity - refunded
  }
  const effective = total - Math.min(total, sum(refunds.map(({ amount }) => cents(amount))))
  for (const scope of [`${day}/${area}`, `${day}/all`]) {
    const known = sales.get(scope) ?? { orders: 0, cents: 0, items: 0 }
    sales.set(scope, {
      orders: known.orders + 1,
      cents: known.cents + effective,
      items: known.items + sold,
    })
  }
}
