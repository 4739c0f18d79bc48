import { offsetIn } from '@tally/contract'
import { type DayOrder, scanDay } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { csvLine } from '../http/csv.ts'
import type { DayRef } from '../live/day.ts'
import { hourName } from './hours.ts'
import type { SettledDay, Takings } from './read.ts'

/** Money as a number with a point, in every locale: programs read it too. */
const cents = (euros: number): string => euros.toFixed(2)

/** The figures of a day, a line each: the day, its hours, its payment methods, its items. */
export async function* figuresCsv({ day, kpis, all, payments, hours, items }: SettledDay) {
  yield csvLine(['figure', 'name', 'orders', 'quantity', 'refunded quantity', 'total', 'refunded', 'takings'])
  const money = ({ total, refunded, takings }: Takings) => [cents(total), cents(refunded), cents(takings)]
  const count = (quantities: number[]) => String(quantities.reduce((sum, one) => sum + one, 0))
  const refunded = count(items.map(({ refundedQuantity }) => refundedQuantity))
  const { totalOrders, totalItemsSold } = kpis
  yield csvLine(['day', day.date, String(totalOrders), String(totalItemsSold), refunded, ...money(all)])
  for (const { hour, orderCount, revenue } of hours)
    yield csvLine(['hour', hourName(hour), String(orderCount), '', '', '', '', cents(revenue)])
  for (const payment of payments)
    yield csvLine([
      'payment method',
      payment.paymentMethod,
      String(payment.orders),
      '',
      '',
      ...money(payment),
    ])
  for (const { itemName, quantity, refundedQuantity, revenue, refundedRevenue } of items)
    yield csvLine([
      'item',
      itemName,
      '',
      String(quantity),
      String(refundedQuantity),
      cents(revenue + refundedRevenue),
      cents(refundedRevenue),
      cents(revenue),
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

function cells(order: DayOrder, areas: Map<number, string>): string[] {
  return [
    order.orderId,
    order.number,
    order.status,
    areas.get(order.areaId) ?? `Area ${order.areaId}`,
    order.paymentMethod,
    order.isTakeaway ? 'yes' : 'no',
    order.tableNumber ?? '',
    order.lines.map(({ quantity, itemName }) => `${quantity} × ${itemName}`).join('; '),
    cents(order.total),
    cents(order.total - order.effective),
    cents(order.effective),
    cents(order.takings),
  ]
}
