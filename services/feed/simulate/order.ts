import type { Area, Festival } from '../festivals/festival.ts'
import { fillBasket } from './basket.ts'
import { billOf, grossOf, type Line, onSaleAt, totalOf } from './bill.ts'
import type { FestivalDay } from './calendar.ts'
import { timestampOf } from './localTime.ts'
import { orderLife, type Step } from './orderLife.ts'
import type { Random } from './random.ts'

/** Of guests who come while there are empty cups: those who bring some with an order, and those who order nothing. */
const bringCups = 0.42
const onlyCups = 0.05
/** The share of orders of at least twice its worth that have a voucher. */
const withVoucher = 0.06

/**
 * A guest who comes to a till; `number` counts the area's orders of the day from 1 and makes the id unique within the
 * event. `emptyCups`: how many cups the guests of the festival may give back.
 */
export type Visit = { day: FestivalDay; area: Area; number: number; atMs: number; emptyCups: number }

/** One order with everything that happens to it; amounts in cents. */
export type PlacedOrder = {
  orderId: string
  displayOrderNumber: string
  areaId: number
  placedMs: number
  paymentMethod: string
  /** What the guest hands over: with cash often more than the order costs. */
  tenderedCents: number
  discountPercent: number
  totalCents: number
  isTakeaway: boolean
  tableNumber: string | null
  /** What the guest orders, and the whole bill, with deposits. */
  basket: Line[]
  lines: Line[]
  cupsBack: number
  /** Its first version, if a dish is added before the guest pays. */
  firstTry: { lines: Line[]; totalCents: number } | null
  steps: Step[]
}

/** Makes the order of a guest: usually what is sold there, sometimes just cups that come back. */
export function placeOrder(visit: Visit, random: Random): PlacedOrder {
  const { day, area, emptyCups } = visit
  const hasCups = emptyCups > 0 && onSaleAt(day.festival, area).cup !== null
  if (hasCups && random.chance(onlyCups)) return cupsAlone(visit, random)
  const steps = orderLife(visit.atMs, area, day.festival.preOrders, random)
  const brings = hasCups && isSold(steps) && random.chance(bringCups)
  return orderOf(visit, steps, brings ? cupsOf(emptyCups, random) : 0, random)
}

/** Whether an order is paid and stays so: cups that come with another are not booked by anyone. */
export function isSold(steps: readonly Step[]): boolean {
  return steps.some(({ status }) => status === 'Paid') && steps.at(-1)?.status !== 'Cancelled'
}

const cupsOf = (emptyCups: number, random: Random): number => Math.min(emptyCups, random.whole(1, 4))

function orderOf(visit: Visit, steps: Step[], cupsBack: number, random: Random): PlacedOrder {
  const { day, area } = visit
  const { festival } = day
  const onSale = onSaleAt(festival, area)
  const basket = fillBasket(onSale.items, festival, random)
  const isTakeaway = random.chance(festival.takeaway)
  const tableNumber = area.tables > 0 && !isTakeaway ? String(random.whole(1, area.tables)) : null
  const coverCents = tableNumber === null ? 0 : guestsOf(basket, random) * festival.coverChargeCents
  const discountPercent = random.pick(festival.discounts).percent
  const { voucher } = onSale
  const hasVoucher = voucher !== null && grossOf(basket) >= -2 * voucher.cents && random.chance(withVoucher)
  const bill = (dishes: Line[]) => {
    const lines = billOf(festival, onSale, dishes, { cupsBack, hasVoucher })
    return { lines, totalCents: totalOf(lines, discountPercent, coverCents) }
  }
  const isPaidLater = steps[0]?.status === 'Pending' && steps.length > 1
  const hasFirstTry = isPaidLater && basket.length > 1 && !hasVoucher && random.chance(0.08)
  return {
    ...payment(festival, bill(basket).totalCents, random),
    ...head(visit),
    discountPercent,
    isTakeaway,
    tableNumber,
    basket,
    lines: bill(basket).lines,
    cupsBack,
    firstTry: hasFirstTry ? bill(basket.slice(0, -1)) : null,
    steps,
  }
}

/** An order that only gives back: its total is below zero. */
function cupsAlone(visit: Visit, random: Random): PlacedOrder {
  const { day, area, atMs } = visit
  const { festival } = day
  const cupsBack = cupsOf(visit.emptyCups, random)
  const lines = billOf(festival, onSaleAt(festival, area), [], { cupsBack, hasVoucher: false })
  return {
    ...payment(festival, totalOf(lines, 0, 0), random),
    ...head(visit),
    discountPercent: 0,
    isTakeaway: false,
    tableNumber: null,
    basket: [],
    lines,
    cupsBack,
    firstTry: null,
    steps: [
      { status: 'Paid', atMs },
      { status: 'Completed', atMs: atMs + random.whole(5, 20) * 1000 },
    ],
  }
}

function head({ day, area, number, atMs }: Visit) {
  return {
    orderId: `${area.letter}-${day.date.replaceAll('-', '')}-${String(number).padStart(6, '0')}`,
    displayOrderNumber: String(number),
    areaId: area.areaId,
    placedMs: atMs,
  }
}

/** 1 to 4 guests at a table, but not more than portions. */
function guestsOf(basket: readonly Line[], random: Random): number {
  return Math.min(
    random.whole(1, 4),
    basket.reduce((sum, { quantity }) => sum + quantity, 0),
  )
}

/** The whole order at version `index + 1`, as the orders topic takes it (docs/records.md, Order). */
export function orderRecord(day: FestivalDay, order: PlacedOrder, index: number) {
  const { status } = order.steps[index] as Step
  const { lines, totalCents } = index === 0 && order.firstTry !== null ? order.firstTry : order
  const wasPaid = order.steps.slice(0, index + 1).some(step => step.status === 'Paid')
  return {
    eventId: day.eventId,
    orderId: order.orderId,
    version: index + 1,
    displayOrderNumber: order.displayOrderNumber,
    status,
    areaId: order.areaId,
    dayId: day.dayId,
    orderDateTime: timestampOf(order.placedMs),
    paymentMethod: wasPaid ? order.paymentMethod : '',
    amountPaid: wasPaid ? order.tenderedCents / 100 : 0,
    totalAmount: totalCents / 100,
    isTakeaway: order.isTakeaway,
    tableNumber: order.tableNumber,
    items: lines.map(({ item, quantity, cents, note }) => ({
      menuItemId: item.menuItemId,
      itemName: item.name,
      quantity,
      unitPrice: cents / 100,
      note,
    })),
  }
}

/** How a guest pays a total (in cents), or is paid back what is below zero. */
function payment({ paymentMethods }: Festival, totalCents: number, random: Random) {
  const { name, isCash } = random.pick(paymentMethods)
  return {
    totalCents,
    paymentMethod: name,
    tenderedCents: isCash && totalCents > 0 ? cashFor(totalCents, random) : totalCents,
  }
}

/** The coins and notes that a guest puts down: the exact sum, or rounded up to what is in the purse. */
function cashFor(totalCents: number, random: Random): number {
  const { step } = random.pick([
    { step: 1, weight: 30 },
    { step: 50, weight: 14 },
    { step: 500, weight: 26 },
    { step: 1000, weight: 20 },
    { step: 5000, weight: 10 },
  ])
  return Math.ceil(totalCents / step) * step
}
