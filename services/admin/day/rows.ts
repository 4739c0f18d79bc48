import { offsetIn } from '@tally/contract'
import { type DayOrder, scanDay } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { type Cell, type Column, count, money, time } from '../http/cells.ts'
import type { DayRef } from '../live/day.ts'
import { hourName } from './hours.ts'
import type { SettledDay, Takings } from './read.ts'

const ofKind = (kind: Column['kind'], ...names: string[]): Column[] => names.map(name => ({ name, kind }))

export const figureColumns: Column[] = [
  ...ofKind('text', 'figure', 'name'),
  ...ofKind('count', 'orders', 'quantity', 'refunded quantity'),
  ...ofKind('money', 'total', 'refunded', 'takings'),
]

/** The figures of a day, a row each: the day, its hours as the evening ran, its payment methods, its items. */
export async function* figureRows(settled: SettledDay): AsyncIterable<Cell[]> {
  const { day, kpis, all, payments, hours, sold, returned } = settled
  const takingsOf = ({ total, refunded, takings }: Takings) => [money(total), money(refunded), money(takings)]
  const items = [...sold, ...returned]
  const refunded = items.reduce((sum, { refundedQuantity }) => sum + refundedQuantity, 0)
  const { totalOrders, totalItemsSold } = kpis
  yield ['day', day.date, count(totalOrders), count(totalItemsSold), count(refunded), ...takingsOf(all)]
  for (const { hour, orderCount, revenue } of hours)
    yield ['hour', hourName(hour), count(orderCount), '', '', '', '', money(revenue)]
  for (const payment of payments)
    yield ['payment method', payment.paymentMethod, count(payment.orders), '', '', ...takingsOf(payment)]
  for (const { itemName, quantity, refundedQuantity, revenue, refundedRevenue } of items)
    yield [
      'item',
      itemName,
      '',
      count(quantity),
      count(refundedQuantity),
      money(revenue + refundedRevenue),
      money(refundedRevenue),
      money(revenue),
    ]
}

/** The columns of the orders of a day; times are in the event's time zone. */
export const orderColumns = ({ event }: Pick<SettledDay, 'event'>): Column[] => [
  ...ofKind('time', `time (${event.timeZone})`),
  ...ofKind('text', 'order', 'number', 'status', 'area', 'payment method', 'takeaway', 'table', 'items'),
  ...ofKind('money', 'total', 'refunded', 'effective', 'takings'),
]

/**
 * All orders of a day by time, in the event's time zone. The column `takings` adds up to the day's: it is the effective
 * amount of an order that counts, and 0 of one that is not paid or cancelled.
 */
export async function* orderRows(
  db: Postgres,
  { event }: Pick<SettledDay, 'event'>,
  ref: DayRef,
): AsyncIterable<Cell[]> {
  const offsetAt = offsetIn(event.timeZone)
  const local = (at: number) => time(at + offsetAt(at))
  const areas = new Map<number, string>(event.areas.map(({ areaId, name }) => [areaId, name]))
  for await (const orders of scanDay(db, ref))
    for (const order of orders) yield [local(order.orderedAt), ...cells(order, areas)]
}

function cells(order: DayOrder, areas: Map<number, string>): Cell[] {
  return [
    order.orderId,
    order.number,
    order.status,
    areas.get(order.areaId) ?? `Area ${order.areaId}`,
    order.paymentMethod,
    order.isTakeaway ? 'yes' : 'no',
    order.tableNumber ?? '',
    order.lines.map(lineText).join('; '),
    money(order.total),
    money(order.total - order.effective),
    money(order.effective),
    money(order.takings),
  ]
}

/** `2 × Burger`. A returned line has no minus: at the start of a cell or after a semicolon it would be a formula. */
const lineText = ({ quantity, itemName }: DayOrder['lines'][number]): string =>
  `${Math.abs(quantity)} × ${itemName}${quantity < 0 ? ' (returned)' : ''}`
