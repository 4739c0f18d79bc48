import type { Area } from '../festivals/festival.ts'
import type { Random } from './random.ts'

type OrderStatus =
  | 'PreOrder'
  | 'Pending'
  | 'Paid'
  | 'Preparing'
  | 'ReadyForPickup'
  | 'Completed'
  | 'Cancelled'

/** A status and when it begins; the n-th step of an order is its version n. */
export type Step = { status: OrderStatus; atMs: number }

const seconds = 1000
const minutes = 60 * seconds

/**
 * The steps of one order from the time it is placed. It begins as a pre-order from the app, at a till that
 * still waits for the money (Pending), or paid at once; then it is handed out (counter) or cooked, called and
 * fetched. A few are cancelled before or after payment, and a few never get beyond Pending.
 */
export function orderLife(placedMs: number, area: Area, preOrders: number, random: Random): Step[] {
  const steps = beginning(placedMs, preOrders, random)
  const last = steps.at(-1)
  if (last?.status !== 'Paid') return steps
  if (random.chance(0.012))
    return [...steps, { status: 'Cancelled', atMs: last.atMs + random.whole(60, 480) * seconds }]
  return [...steps, ...service(last.atMs, area, random)]
}

function beginning(placedMs: number, preOrders: number, random: Random): Step[] {
  if (random.chance(preOrders)) {
    const next = placedMs + random.whole(5 * 60, 40 * 60) * seconds
    return [
      { status: 'PreOrder', atMs: placedMs },
      { status: random.chance(0.06) ? 'Cancelled' : 'Paid', atMs: next },
    ]
  }
  if (!random.chance(0.45)) return [{ status: 'Paid', atMs: placedMs }]
  const pending: Step = { status: 'Pending', atMs: placedMs }
  if (random.chance(0.008)) return [pending]
  if (random.chance(0.03))
    return [pending, { status: 'Cancelled', atMs: placedMs + random.whole(40, 300) * seconds }]
  return [pending, { status: 'Paid', atMs: placedMs + random.whole(12, 120) * seconds }]
}

function service(paidMs: number, area: Area, random: Random): Step[] {
  if (area.service.kind === 'counter') {
    return [{ status: 'Completed', atMs: paidMs + random.whole(20, 240) * seconds }]
  }
  const preparing = paidMs + random.whole(15, 180) * seconds
  const ready = preparing + Math.round(area.service.minutes * minutes * (0.5 + random.unit()))
  const fetched = ready + random.whole(15, 360) * seconds
  return [
    { status: 'Preparing', atMs: preparing },
    { status: 'ReadyForPickup', atMs: ready },
    { status: 'Completed', atMs: fetched },
  ]
}
