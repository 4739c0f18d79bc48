import type { ItemCount, TopItem } from '@tally/contract'
import { itemCounts, type StoredEvent, topItems } from '@tally/figures'
import {
  type Composition,
  type DayHeading,
  type DayRead,
  type DayRef,
  documentOf,
  headingOf,
  mostRows,
} from '../live/day.ts'
import { eveningOf } from '../live/evening.ts'
import { isReturned, partReturned } from '../live/returned.ts'
import { areaName, type Shows } from './shows.ts'

/** What the screen with money gets. */
type MoneyShown = DayHeading & {
  orders: number
  items: number
  sales: number
  average: number
  /** As the evening ran (eveningOf). */
  hours: { hour: number; orderCount: number }[]
  best: Pick<TopItem, 'itemName' | 'quantity' | 'revenue'>[]
}

/** What a screen without money gets: a field that is not here never leaves the server. */
type PortionsShown = DayHeading & {
  /** The name of the area, of a kitchen's screen. */
  area: string | null
  orders: number
  portions: number
  /** Categories in the order of the menu, and so the items of each. */
  items: Portion[]
}
type Portion = { id: number; name: string; category: string; sold: number }

/** What the stream of a screen link sends. */
export const compositions: Record<Shows, Composition> = {
  money: { name: 'money', hasStatuses: false, compose: composeMoney },
  portions: { name: 'portions', hasStatuses: false, compose: composePortions },
  kitchen: { name: 'portions', hasStatuses: false, compose: composePortions },
}

function composeMoney(read: DayRead, ref: DayRef): string {
  const { event, asOfMs } = read
  const { dayId } = ref
  const day = event.days.find(one => one.dayId === dayId)
  const kpis = documentOf(read, 'kpis', ref)
  const hours = documentOf(read, 'hours', ref)
  const items = documentOf(read, 'items', ref)
  const { sold } = partReturned(topItems(items, event, items.length))
  return JSON.stringify({
    ...headingOf(event, dayId),
    orders: kpis.totalOrders,
    items: kpis.totalItemsSold,
    sales: kpis.totalSales,
    average: kpis.averageOrderValue,
    hours: eveningOf(hours, { day, timeZone: event.timeZone, asOfMs }).map(({ hour, orderCount }) => ({
      hour,
      orderCount,
    })),
    best: sold
      .filter(({ quantity }) => quantity > 0)
      .slice(0, mostRows)
      .map(({ itemName, quantity, revenue }) => ({ itemName, quantity, revenue })),
  } satisfies MoneyShown)
}

function composePortions(read: DayRead, ref: DayRef): string {
  const { event } = read
  // Without returned cups and vouchers.
  const items = documentOf(read, 'items', ref).filter(
    ([, quantity, revenue]) => !isReturned({ quantity, revenue }),
  )
  return JSON.stringify({
    ...headingOf(event, ref.dayId),
    area: ref.areaId === undefined ? null : areaName(event, ref.areaId),
    orders: documentOf(read, 'kpis', ref).totalOrders,
    portions: items.reduce((sum, [, sold]) => sum + sold, 0),
    items: portionsOf(itemCounts(items, event, undefined), event),
  } satisfies PortionsShown)
}

/** What was sold by category, in the order of the menu; what the menu does not list comes last. */
function portionsOf(counts: ItemCount[], { menuItems }: Pick<StoredEvent, 'menuItems'>): Portion[] {
  const categories = [...new Set(menuItems.map(({ categoryName }) => categoryName))]
  const ranks = new Map(categories.map((category, rank) => [category, rank]))
  const placeOf = new Map<number, { category: string; rank: number; index: number }>()
  for (const [index, { menuItemId, categoryName }] of menuItems.entries())
    placeOf.set(menuItemId, { category: categoryName, rank: ranks.get(categoryName) ?? 0, index })
  const last = { category: '', rank: categories.length, index: menuItems.length }
  return counts
    .map(count => ({ ...count, ...(placeOf.get(count.menuItemId) ?? last) }))
    .sort(
      (one, other) => one.rank - other.rank || one.index - other.index || one.menuItemId - other.menuItemId,
    )
    .map(({ menuItemId, itemName, category, quantitySold }) => ({
      id: menuItemId,
      name: itemName,
      category,
      sold: quantitySold,
    }))
}
