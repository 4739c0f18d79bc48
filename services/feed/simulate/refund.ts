import { type Line, paidFor } from './bill.ts'
import type { FestivalDay } from './calendar.ts'
import { timestampOf } from './localTime.ts'
import type { PlacedOrder } from './order.ts'
import type { Random } from './random.ts'

/** Money that a guest gets back, with everything that the cash desk says of it. */
export type GivenBack = { atMs: number; isWholeOrder: boolean; versions: RefundVersion[] }

/** `lines` null: of money only, or taken back (docs/records.md, Refund). Amounts in cents. */
type RefundVersion = {
  sentMs: number
  amountCents: number
  lines: { line: Line; quantity: number; cents: number }[] | null
}
type Said = Omit<RefundVersion, 'sentMs'>

/** One paid order in 45 gets something back. */
const refunded = 1 / 45
/** What the cook keeps of a dish that was begun. */
const feeCents = 50

const kinds = [
  { kind: 'dish', weight: 42 },
  { kind: 'lessFee', weight: 18 },
  { kind: 'money', weight: 25 },
  { kind: 'whole', weight: 15 },
] as const

/** What is said of a refund some minutes later: that it failed, so nothing was paid back, or that it was less. */
const outcomes = [
  { outcome: 'paid', weight: 82 },
  { outcome: 'failed', weight: 12 },
  { outcome: 'less', weight: 6 },
] as const

/**
 * The refund of an order, or null: everything if it is cancelled after payment; otherwise a few orders get a dish back
 * (perhaps less a fee), everything, or some euros for the long wait. Nothing of an order that cups were paid back with:
 * its total does not say what the dishes cost.
 */
export function refundOf(day: FestivalDay, order: PlacedOrder, random: Random): GivenBack | null {
  const paid = order.steps.find(({ status }) => status === 'Paid')
  if (paid === undefined || order.totalCents <= 0 || order.cupsBack > 0) return null
  const calledOff = order.steps.at(-1)
  if (calledOff?.status === 'Cancelled') {
    const { atMs } = calledOff
    return { atMs, isWholeOrder: true, versions: [{ sentMs: atMs, ...wholeOrder(order) }] }
  }
  if (!random.chance(refunded)) return null
  const atMs = Math.min(paid.atMs + random.whole(60, 2400) * 1000, day.closesMs - 60_000)
  const { kind } = random.pick(kinds)
  const said = firstSaid(kind, order, random)
  const later = laterSaid(said, random)
  const laterMs = Math.min(atMs + random.whole(3, 20) * 60_000, day.closesMs)
  const versions = [{ sentMs: atMs, ...said }, ...later.map(version => ({ sentMs: laterMs, ...version }))]
  return { atMs, isWholeOrder: kind === 'whole', versions }
}

/** The whole refund at version `index + 1`, as the refunds topic takes it. */
export function refundRecord(
  day: FestivalDay,
  order: PlacedOrder,
  refundId: string,
  { atMs, versions }: GivenBack,
  index: number,
) {
  const { amountCents, lines } = versions[index] as RefundVersion
  const head = {
    eventId: day.eventId,
    refundId,
    version: index + 1,
    orderId: order.orderId,
    refundedAt: timestampOf(atMs),
    amount: amountCents / 100,
  }
  if (lines === null) return head
  return {
    ...head,
    lines: lines.map(({ line, quantity, cents }) => ({
      menuItemId: line.item.menuItemId,
      quantity,
      amount: cents / 100,
    })),
  }
}

function firstSaid(kind: (typeof kinds)[number]['kind'], order: PlacedOrder, random: Random): Said {
  if (kind === 'whole') return wholeOrder(order)
  if (kind === 'money')
    return { amountCents: Math.min(order.totalCents, random.whole(1, 10) * 50), lines: null }
  return oneDish(order, kind === 'lessFee' ? feeCents : 0, random)
}

function laterSaid(said: Said, random: Random): Said[] {
  const { outcome } = random.pick(outcomes)
  if (outcome === 'paid') return []
  if (outcome === 'failed') return [{ amountCents: 0, lines: null }]
  return [{ ...said, amountCents: Math.max(0, said.amountCents - feeCents) }]
}

/** A voucher is not given back: only lines that cost something. */
function wholeOrder(order: PlacedOrder): Said {
  const lines = order.lines
    .filter(({ cents }) => cents > 0)
    .map(line => ({
      line,
      quantity: line.quantity,
      cents: paidFor(line, line.quantity, order.discountPercent),
    }))
  return { amountCents: order.totalCents, lines }
}

/** At most what the guest paid: with a voucher that is less than the dish costs. */
function oneDish(
  { basket, totalCents, discountPercent }: PlacedOrder,
  feeCents: number,
  random: Random,
): Said {
  const line = basket[random.whole(0, basket.length - 1)] as Line
  const quantity = random.whole(1, line.quantity)
  const cents = paidFor(line, quantity, discountPercent)
  return {
    amountCents: Math.max(0, Math.min(totalCents, cents) - feeCents),
    lines: [{ line, quantity, cents }],
  }
}
