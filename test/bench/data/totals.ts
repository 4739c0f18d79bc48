/**
 * version, day, area, whether confirmed, whether listed, total in cents, moment; then of each line item, quantity,
 * cents.
 */
export type OrderRow = [number, number, number, number, number, number, number, ...number[]]
const firstLine = 7

/** Of one menu item on one day; quantity and cents are net of refunds. */
type ItemTotals = { quantity: number; cents: number; refunded: number; refundedCents: number }

/** Sums of one event: of `day/area` and `day/all`, of the items of a day, and of its local hours. */
export type EventTotals = {
  sales: Map<string, { orders: number; cents: number; items: number }>
  items: Map<number, Map<number, ItemTotals>>
  hours: Map<number, Map<number, { orders: number; cents: number }>>
}

export const emptyTotals = (): EventTotals => ({ sales: new Map(), items: new Map(), hours: new Map() })

// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
type Any = any

const cents = (euros: number) => Math.round(euros * 100)
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
const refundLinesSince = Date.parse('2026-08-19T00:00:00Z')

/** All events are in Rome, in September (records.ts). */
const localHour = (atMs: number) => (new Date(atMs).getUTCHours() + 2) % 24

/** Adds one order with all of its refunds, as docs/records.md, Counting, defines it. */
export function addFigures({ sales, items, hours }: EventTotals, row: OrderRow, refunds: Any[]): void {
  const [, day, area, isConfirmed, , total, atMs] = row
  if (isConfirmed === 0) return
  const sold = addItems(
    entryOf(items, day, () => new Map()),
    row,
    refunds,
  )
  const effective = total - Math.min(Math.max(0, total), sum(refunds.map(({ amount }) => cents(amount))))
  for (const scope of [`${day}/${area}`, `${day}/all`]) {
    const known = entryOf(sales, scope, () => ({ orders: 0, cents: 0, items: 0 }))
    known.orders += 1
    known.cents += effective
    known.items += sold
  }
  const hour = entryOf(
    entryOf(hours, day, () => new Map()),
    localHour(atMs),
    () => ({ orders: 0, cents: 0 }),
  )
  hour.orders += 1
  hour.cents += effective
}

/** Adds the items of one order; returns the portions sold, net of refunds. */
function addItems(items: Map<number, ItemTotals>, row: OrderRow, refunds: Any[]): number {
  const ordered = new Map<number, { quantity: number; gross: number }>()
  for (let at = firstLine; at < row.length; at += 3) {
    const [item, quantity, price] = row.slice(at, at + 3) as [number, number, number]
    const line = entryOf(ordered, item, () => ({ quantity: 0, gross: 0 }))
    line.quantity += quantity
    line.gross += quantity * price
  }
  const back = refunds
    .filter(({ refundedAt }) => Date.parse(refundedAt) >= refundLinesSince)
    .flatMap(({ lines }) => lines ?? [])
  let sold = 0
  for (const [item, { quantity, gross }] of ordered) {
    const own = back.filter(line => line.menuItemId === item)
    const refunded = Math.min(Math.max(0, quantity), sum(own.map(line => line.quantity)))
    const refundedCents = Math.min(Math.max(0, gross), sum(own.map(line => cents(line.amount))))
    const known = entryOf(items, item, () => ({ quantity: 0, cents: 0, refunded: 0, refundedCents: 0 }))
    known.quantity += quantity - refunded
    known.cents += gross - refundedCents
    known.refunded += refunded
    known.refundedCents += refundedCents
    sold += quantity - refunded
  }
  return sold
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, empty: () => Value): Value {
  const known = map.get(key) ?? empty()
  map.set(key, known)
  return known
}
