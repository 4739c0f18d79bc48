import { offsetIn, type TopItem } from '@tally/contract'
import { type Cell, type Column, count, money, time } from '../http/cells.ts'
import { hourName } from './hours.ts'
import type { SettledDay } from './read.ts'

/** The columns of the end-of-day sheet in Excel; the event's name is above them. */
export const sheetColumns = ({ event }: Pick<SettledDay, 'event'>): Column[] => [
  { name: event.name, kind: 'text' },
  { name: 'Number', kind: 'count' },
  { name: 'Refunded number', kind: 'count' },
  { name: 'Total', kind: 'money' },
  { name: 'Refunded', kind: 'money' },
  { name: 'Takings', kind: 'money' },
  { name: `Counted up to (${event.timeZone})`, kind: 'time' },
]

/** The end-of-day sheet as a person reads it: the parts of the page in its order, each under its name. */
export async function* sheetRows({ event, day, asOfMs, ...figures }: SettledDay): AsyncIterable<Cell[]> {
  const { kpis, all, payments, hours, sold, returned } = figures
  const upTo = asOfMs === null ? '' : time(asOfMs + offsetIn(event.timeZone)(asOfMs))
  const takings = [money(all.total), money(all.refunded), money(all.takings)]
  yield [day.date, count(kpis.totalOrders), count(all.refundedOrders), ...takings, upTo]
  yield* part('By hour')
  for (const { hour, orderCount, revenue } of hours)
    yield [hourName(hour), count(orderCount), '', '', '', money(revenue)]
  yield* part('By payment method')
  for (const { paymentMethod, orders, refundedOrders, ...of } of payments)
    yield [
      paymentMethod,
      count(orders),
      count(refundedOrders),
      money(of.total),
      money(of.refunded),
      money(of.takings),
    ]
  yield* items('Items', sold)
  yield* items('Returned', returned)
}

const part = (name: string): Cell[][] => [[], [name]]

function* items(name: string, all: TopItem[]): Iterable<Cell[]> {
  if (all.length === 0) return
  yield* part(name)
  for (const { itemName, quantity, refundedQuantity, revenue, refundedRevenue } of all)
    yield [
      itemName,
      count(quantity),
      count(refundedQuantity),
      money(revenue + refundedRevenue),
      money(refundedRevenue),
      money(revenue),
    ]
}
