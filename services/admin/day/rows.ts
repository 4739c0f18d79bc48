import { offsetIn } from '@tally/contract'
import { type DayOrder, scanDay } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { type Cell, count, csvLine, money } from '../http/csv.ts'
import type { DayRef } from '../live/day.ts'
import { hourName } from './hours.ts'
import type { SettledDay, Takings } from './read.ts'

/** The figures of a day, a line each: the day, its hours as the evening ran, its payment methods, its items. */
export async function* figuresCsv({ day, kpis, all, payments, hours, sold, returned }: SettledDay) {
  yield csvLine(['figure', 'name', 'orders', 'quantity', 'refunded quantity', 'total', 'refunded', 'takings'])
  const takingsOf = ({ total, refunded, takings }: Takings) => [money(total), money(refunded), money(takings)]
  const items = [...sold, ...returned]
  const refunded = items.reduce((sum, { refundedQuantity }) => sum + refundedQuantity, 0)
  const { totalOrders, totalItemsSold } = kpis
  yield csvLine([
    'day',
    day.date,
    count(totalOrders),
    count(totalItemsSold),
    count(refunded),
    ...takingsOf(all),
  ])
  for (const { hour, orderCount, revenue } of hours)
    yield csvLine(['hour', hourName(hour), count(orderCount), '', '', '', '', money(revenue)])
  for (const payment of payments)
    yield csvLine([
      'payment method',
      payment.paymentMethod,
      count(payment.orders),
      '',
      '',
      ...takingsOf(payment),
    ])
  for (const { itemName, quantity, refundedQuantity, revenue, refundedRevenue } of items)
    yield csvLine([
      'item',
      itemName,
      '',
      count(quantity),
      count(refundedQuantity),
      money(revenue + refundedRevenue),
      money(refundedRevenue),
      money(revenue),
    ])
}

const columns = [
  'order',
  'number',
  'status',
  'area',
  'payment method',
  'takeaway',
  'table',
  'items',
  'total',
  'refunded',
  'effective',
  'takings',
]

/**
 * All orders of a day by time, in the event's time zone. The column `takings` adds up to the day's: it is the effective
 * amount of an order that counts, and 0 of one that is not paid or cancelled.
 */
export async function* ordersCsv(db: Postgres, { event }: Pick<SettledDay, 'event'>, ref: DayRef) {
  const { timeZone } = event
  // Swedish dates are those that spreadsheets read: 2026-09-05 21:31:07.
  const format = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone: 'UTC' })
  const offsetAt = offsetIn(timeZone)
  const local = (at: number) => format.format(at + offsetAt(at))
  const areas = new Map<number, string>(event.areas.map(({ areaId, name }) => [areaId, name]))
  yield csvLine([`time (${timeZone})`, ...columns])
  for await (const orders of scanDay(db, ref))
    yield orders.map(order => csvLine([local(order.orderedAt), ...cells(order, areas)])).join('')
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
