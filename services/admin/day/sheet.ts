import { offsetIn, type TopItem } from '@tally/contract'
import { type Cell, type Column, count, moneyCell, time } from '../http/cells.ts'
import { dayName } from '../views/dayLabels.ts'
import { itemCells, paymentName, takingsCells, unlistedName } from './cells.ts'
import { closingOf, periodSums, type Settled } from './settled.ts'

/** The columns of the end-of-day sheet in Excel; the event's name is above them. */
export const sheetColumns = ({ event }: Pick<Settled, 'event'>): Column[] => [
  { name: event.name, kind: 'text' },
  { name: 'Orders or items', kind: 'count' },
  { name: 'Refunded orders or items', kind: 'count' },
  { name: 'Total', kind: 'money' },
  { name: 'Refunded', kind: 'money' },
  { name: 'Takings', kind: 'money' },
  { name: `Counted up to (${event.timeZone})`, kind: 'time' },
]

/** The end-of-day sheet as a person reads it: the parts of the page in its order, each under its name. */
export async function* sheetRows(settled: Settled): AsyncIterable<Cell[]> {
  const { event, day, asOfMs, kpis, all, payments, periods, sold, returned, items, unlisted } = settled
  const upTo = asOfMs === null ? '' : time(asOfMs + offsetIn(event.timeZone)(asOfMs))
  const name = dayName(event, day?.dayId) ?? 'All days'
  yield [name, count(kpis.totalOrders), count(all.refundedOrders), ...takingsCells(all), upTo]
  yield* part(day === undefined ? 'By day' : 'By hour')
  for (const { name, orders, takings } of periods) yield [name, count(orders), '', '', '', moneyCell(takings)]
  const sums = periodSums(periods)
  yield ['Sum', count(sums.orders), '', '', '', moneyCell(sums.takings)]
  if (unlisted) yield [unlistedName, count(unlisted.orders), '', '', '', moneyCell(unlisted.takings)]
  yield* part('By payment method')
  for (const payment of [...payments, { paymentMethod: 'Sum', ...all }])
    yield [
      paymentName(payment.paymentMethod),
      count(payment.orders),
      count(payment.refundedOrders),
      ...takingsCells(payment),
    ]
  yield* itemPart('Items', sold)
  yield* itemPart('Returns and vouchers', returned)
  yield* part('From the items to the takings')
  yield ['All items', count(items.quantity), count(items.refundedQuantity), ...takingsCells(items)]
  for (const step of closingOf(settled)) yield [step.name, '', '', ...takingsCells(step)]
  yield ['Takings', '', '', ...takingsCells(all)]
}

const part = (name: string): Cell[][] => [[], [name]]

function* itemPart(name: string, all: TopItem[]): Iterable<Cell[]> {
  if (all.length === 0) return
  yield* part(name)
  for (const item of all) yield [item.itemName, ...itemCells(item)]
}
