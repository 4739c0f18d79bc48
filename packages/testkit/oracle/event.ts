import { itemCountsOf, itemsOf, kpisOf, ordersByHour, paymentsOf, totalsOf } from './count.ts'
import { figures } from './figures.ts'
import { currentDayOf, presentEvent, presentOrder } from './present.ts'
import { type Any, at, compare, unique } from './words.ts'

type Scope = { dayId?: number | null | undefined; areaId?: number | undefined }
type Filter = { dayId?: number; areaId?: number; status?: string }

export const confirmedStatuses = ['Paid', 'Preparing', 'ReadyForPickup', 'Completed']

/** Every answer about one event, from its winning record, its orders' winning records and its refunds. */
export function eventOracle(event: Any, orders: Any[], refunds: Any[]) {
  const refundsOf = Map.groupBy(refunds, ({ orderId }) => orderId as string)
  const all = orders.map(order => figures(order, refundsOf.get(order.orderId) ?? []))
  const confirmed = all.filter(({ order }) => confirmedStatuses.includes(order.status))
  const ofDays = Map.groupBy(confirmed, ({ order }) => order.dayId as number | null)
  const defaultDay = defaultDayOf(event)
  const inScope = ({ dayId = defaultDay, areaId }: Scope) =>
    (ofDays.get(dayId) ?? []).filter(({ order }) => areaId === undefined || order.areaId === areaId)
  const menu = new Map<number, Any>(event.menuItems.map((item: Any) => [item.menuItemId, item]))
  const list = () =>
    all
      .toSorted(
        (a, b) =>
          at(b.order.orderDateTime) - at(a.order.orderDateTime) || compare(b.order.orderId, a.order.orderId),
      )
      .map(presentOrder)
  let listed: ReturnType<typeof list> | undefined
  const allOrders = () => {
    listed ??= list()
    return listed
  }

  return {
    defaultDay,
    /** The figures of the confirmed orders of a day, and of one area or all. */
    inScope,
    detail: presentEvent(event),
    areaIds: event.areas.map((area: Any) => area.areaId) as number[],
    dayIds: event.days.map((day: Any) => day.dayId) as number[],
    menuItemIds: [...menu.keys()],
    kpis: (scope: Scope) => kpisOf(inScope(scope)),
    byHour: (scope: Scope) => ordersByHour(inScope(scope), event.timeZone ?? 'UTC'),
    payments: (scope: Scope) => paymentsOf(inScope(scope)),
    topItems: (scope: Scope, limit = 10) =>
      itemsOf(inScope(scope), menu)
        .sort((a, b) => b.quantity - a.quantity || b.revenue - a.revenue || a.menuItemId - b.menuItemId)
        .slice(0, limit),
    itemCounts(dayId?: number, asked?: number[]) {
      if (asked !== undefined && (dayId ?? defaultDay) === null) return []
      return itemCountsOf(inScope({ dayId }), menu, asked)
    },
    salesTrend(days = 7, areaId?: number) {
      const dates = unique<string>(event.days.map((day: Any) => day.date))
        .sort(compare)
        .slice(-days)
      return dates.map(date => {
        const ids = event.days.filter((day: Any) => day.date === date).map((day: Any) => day.dayId)
        const list = ids.flatMap((dayId: number) => inScope({ dayId, areaId }))
        return { date, ...totalsOf(list) }
      })
    },
    orders: ({ dayId, areaId, status }: Filter) =>
      allOrders().filter(
        order =>
          (dayId === undefined || order.dayId === dayId) &&
          (areaId === undefined || order.areaId === areaId) &&
          (status === undefined ? order.status !== 'Cancelled' : order.status === status),
      ),
    /** From the newest to the oldest. */
    allOrders,
  }
}
export type EventOracle = ReturnType<typeof eventOracle>

/** The open day, or the one that was closed last. */
function defaultDayOf(event: Any): number | null {
  const closed = event.days
    .filter((day: Any) => (day.closedAt ?? null) !== null)
    .sort((a: Any, b: Any) => at(b.closedAt) - at(a.closedAt) || b.dayId - a.dayId)
  return (currentDayOf(event) ?? closed[0])?.dayId ?? null
}
