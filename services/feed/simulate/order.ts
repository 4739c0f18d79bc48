import type { Area } from '../festivals/festival.ts'
import { fillBasket, grossOf, type Line } from './basket.ts'
import type { FestivalDay, MenuItem } from './calendar.ts'
import { timestampOf } from './localTime.ts'
import { orderLife, type Step } from './orderLife.ts'
import type { Random } from './random.ts'

/** One order with everything that happens to it; amounts in cents. */
export type PlacedOrder = {
  orderId: string
  displayOrderNumber: string
  areaId: number
  placedMs: number
  paymentMethod: string
  /** What the guest hands over: with cash often more than the order costs. */
  tenderedCents: number
  totalCents: number
  isTakeaway: boolean
  tableNumber: string | null
  lines: Line[]
  /** What the first version lacks: sometimes a guest adds a dish before paying. */
  addedLater: Line | null
  steps: Step[]
}

/**
 * Makes the order that a guest of this area places at `placedMs`; `number` counts the area's orders of the day
 * from 1 and makes the id unique within the event.
 */
export function placeOrder(
  day: FestivalDay,
  area: Area,
  onSale: readonly MenuItem[],
  number: number,
  placedMs: number,
  random: Random,
): PlacedOrder {
  const { festival } = day
  const lines = fillBasket(onSale, festival, random)
  const isTakeaway = random.chance(festival.takeaway)
  const tableNumber = area.tables > 0 && !isTakeaway ? String(random.whole(1, area.tables)) : null
  const steps = orderLife(placedMs, area, festival.preOrders, random)
  const guests =
    tableNumber === null
      ? 0
      : Math.min(
          random.whole(1, 4),
          lines.reduce((sum, { quantity }) => sum + quantity, 0),
        )
  const percent = random.pick(festival.discounts).percent
  const totalCents = Math.round((grossOf(lines) * (100 - percent)) / 100) + guests * festival.coverChargeCents
  const payment = random.pick(festival.paymentMethods)
  const isPaidLater = steps[0]?.status === 'Pending' && steps.length > 1
  return {
    orderId: `${area.letter}-${day.date.replaceAll('-', '')}-${String(number).padStart(6, '0')}`,
    displayOrderNumber: String(number),
    areaId: area.areaId,
    placedMs,
    paymentMethod: payment.name,
    tenderedCents: payment.isCash ? cashFor(totalCents, random) : totalCents,
    totalCents,
    isTakeaway,
    tableNumber,
    lines,
    addedLater: isPaidLater && lines.length > 1 && random.chance(0.08) ? (lines.at(-1) ?? null) : null,
    steps,
  }
}

/** The whole order at version `index + 1`, as the orders topic takes it (docs/records.md, Order). */
export function orderRecord(day: FestivalDay, order: PlacedOrder, index: number) {
  const { status } = order.steps[index] as Step
  const isFirstTry = index === 0 && order.addedLater !== null
  const lines = isFirstTry ? order.lines.slice(0, -1) : order.lines
  const totalCents = order.totalCents - (isFirstTry ? missingCents(order) : 0)
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
    items: lines.map(({ item, quantity, note }) => ({
      menuItemId: item.menuItemId,
      itemName: item.name,
      quantity,
      unitPrice: item.cents / 100,
      note,
    })),
  }
}

/** The added line's part of the total: with a discount the line counts for less than its price. */
function missingCents({ addedLater, lines, totalCents }: PlacedOrder): number {
  if (addedLater === null) return 0
  return Math.floor((Math.min(totalCents, grossOf(lines)) * grossOf([addedLater])) / grossOf(lines))
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
