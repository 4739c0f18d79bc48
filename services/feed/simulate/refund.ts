import { grossOf, type Line } from './basket.ts'
import type { FestivalDay } from './calendar.ts'
import { timestampOf } from './localTime.ts'
import type { PlacedOrder } from './order.ts'
import type { Random } from './random.ts'

/** `lines` null: a refund of money only (docs/records.md, Refund). Amounts in cents. */
export type GivenBack = {
  atMs: number
  amountCents: number
  lines: { line: Line; quantity: number; cents: number }[] | null
}

/** One paid order in 45 gets something back. */
const refunded = 1 / 45

/**
 * The refund of an order, or null: everything if it is cancelled after payment; otherwise a few orders get a dish back,
 * everything, or some euros for the long wait.
 */
export function refundOf(day: FestivalDay, order: PlacedOrder, random: Random): GivenBack | null {
  const paid = order.steps.find(({ status }) => status === 'Paid')
  if (paid === undefined || order.totalCents === 0) return null
  const calledOff = order.steps.at(-1)
  if (calledOff?.status === 'Cancelled') return wholeOrder(order, calledOff.atMs)
  if (!random.chance(refunded)) return null
  const atMs = Math.min(paid.atMs + random.whole(60, 2400) * 1000, day.closesMs - 60_000)
  const { kind } = random.pick([
    { kind: 'dish', weight: 55 },
    { kind: 'money', weight: 30 },
    { kind: 'whole', weight: 15 },
  ])
  if (kind === 'whole') return wholeOrder(order, atMs)
  if (kind === 'money')
    return { atMs, amountCents: Math.min(order.totalCents, random.whole(1, 10) * 50), lines: null }
  return oneDish(order, atMs, random)
}

/** The refund as the refunds topic takes it. */
export function refundRecord(day: FestivalDay, order: PlacedOrder, refundId: string, given: GivenBack) {
  const head = {
    eventId: day.eventId,
    refundId,
    orderId: order.orderId,
    refundedAt: timestampOf(given.atMs),
    amount: given.amountCents / 100,
  }
  if (given.lines === null) return head
  const lines = given.lines.map(({ line, quantity, cents }) => ({
    menuItemId: line.item.menuItemId,
    quantity,
    amount: cents / 100,
  }))
  return { ...head, lines }
}

function wholeOrder(order: PlacedOrder, atMs: number): GivenBack {
  const lines = order.lines.map(line => ({
    line,
    quantity: line.quantity,
    cents: paidFor(order, line, line.quantity),
  }))
  return { atMs, amountCents: order.totalCents, lines }
}

function oneDish(order: PlacedOrder, atMs: number, random: Random): GivenBack {
  const line = order.lines[random.whole(0, order.lines.length - 1)] as Line
  const quantity = random.whole(1, line.quantity)
  const cents = paidFor(order, line, quantity)
  return { atMs, amountCents: cents, lines: [{ line, quantity, cents }] }
}

/** Cents paid for some portions, rounded down if a discount made the order cheaper than its lines. */
function paidFor(order: PlacedOrder, { item }: Line, quantity: number): number {
  const gross = grossOf(order.lines)
  return Math.floor((item.cents * quantity * Math.min(order.totalCents, gross)) / gross)
}
