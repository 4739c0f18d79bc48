import { offsetIn } from '@tally/contract'
import { type DayOrder, scanDay } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { type Cell, type Column, count, moneyCell, time } from '../http/cells.ts'
import type { DayRef } from '../live/day.ts'
import { dayName } from '../views/dayLabels.ts'
import { itemCells, takingsCells } from './cells.ts'
import { closingOf, periodSums, type Settled, type Takings } from './settled.ts'

const ofKind = (kind: Column['kind'], ...names: string[]): Column[] => names.map(name => ({ name, kind }))

export const figureColumns: Column[] = [
  ...ofKind('text', 'figure', 'name'),
  ...ofKind('count', 'orders', 'quantity', 'refunded quantity'),
  ...ofKind('money', 'total', 'refunded', 'takings'),
]

/**
 * The figures of a day, a row each: the day, its hours as the evening ran, its payment methods, its items, and the sums
 * of these up to the takings. Of all days, the festival and its days. With all or the only one, what no listed day has.
 */
export async function* figureRows(settled: Settled): AsyncIterable<Cell[]> {
  const { event, day, kpis, all, payments, periods, sold, returned, items, unlisted } = settled
  const whole = [
    count(kpis.totalOrders),
    count(kpis.totalItemsSold),
    count(items.refundedQuantity),
    ...takingsCells(all),
  ]
  yield [day === undefined ? 'festival' : 'day', dayName(event, day?.dayId) ?? event.name, ...whole]
  const each = day === undefined ? 'day' : 'hour'
  for (const period of periods) yield [each, period.name, ...periodCells(period)]
  if (unlisted) yield ['unlisted days', '', ...periodCells(unlisted)]
  for (const payment of payments)
    yield ['payment method', payment.paymentMethod, count(payment.orders), '', '', ...takingsCells(payment)]
  for (const item of [...sold, ...returned]) yield ['item', item.itemName, '', ...itemCells(item)]
  yield ['sum', `${each}s`, ...periodCells(periodSums(periods))]
  yield ['sum', 'payment methods', count(all.orders), '', '', ...takingsCells(all)]
  yield ['sum', 'items', '', count(items.quantity), count(items.refundedQuantity), ...takingsCells(items)]
  for (const step of closingOf(settled))
    yield ['sum', step.name.toLowerCase(), '', '', '', ...takingsCells(step)]
  yield ['sum', 'takings', ...whole]
}

const periodCells = ({ orders, takings }: Pick<Takings, 'orders' | 'takings'>): Cell[] => [
  count(orders),
  '',
  '',
  '',
  '',
  moneyCell(takings),
]

/** The columns of the orders of a day; times are in the event's time zone. */
export const orderColumns = ({ event }: Pick<Settled, 'event'>): Column[] => [
  ...ofKind('time', `time (${event.timeZone})`),
  ...ofKind('text', 'order', 'number', 'status', 'area', 'payment method', 'takeaway', 'table', 'items'),
  ...ofKind('money', 'total', 'refunded', 'total less refunded', 'takings'),
]

/**
 * All orders of a day by time, in the event's time zone. The column `takings` adds up to the day's: it is 0 of unpaid
 * and cancelled orders.
 */
export async function* orderRows(
  db: Postgres,
  { event }: Pick<Settled, 'event'>,
  ref: DayRef,
): AsyncIterable<Cell[]> {
  const offsetAt = offsetIn(event.timeZone)
  const local = (at: number) => time(at + offsetAt(at))
  const areas = new Map<number, string>(event.areas.map(({ areaId, name }) => [areaId, name]))
  for await (const order of scanDay(db, ref)) yield [local(order.orderedAt), ...cells(order, areas)]
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
    moneyCell(order.total),
    moneyCell(order.total - order.effective),
    moneyCell(order.effective),
    moneyCell(order.takings),
  ]
}

/**
 * `2 × Burger`. A line below zero has no minus: first in a cell or after a `;` it would be a formula. It may be a cup
 * or a discount, which a record does not tell apart.
 */
const lineText = ({ quantity, itemName, unitPrice }: DayOrder['lines'][number]): string =>
  `${Math.abs(quantity)} × ${itemName}${quantity < 0 !== unitPrice < 0 ? ' (given back)' : ''}`
