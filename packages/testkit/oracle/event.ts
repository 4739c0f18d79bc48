import { figures } from './figures.ts'
import { openDay, presentEvent, presentOrder } from './present.ts'
import { type Any, at, compare, sum, unique } from './words.ts'

/** Every answer about one event, from its winning record, its orders' winning records and its refunds. */
export function eventOracle(event: Any, orders: Any[], refunds: Any[]) {
  const all = orders.map(order => figures(order, refunds))
  const confirmed = all.filter(({ order }) =>
    ['Paid', 'Preparing', 'ReadyForPickup', 'Completed'].includes(order.status),
  )
  const closed = event.days
    .filter((day: Any) => (day.closedAt ?? null) !== null)
    .sort((a: Any, b: Any) => at(b.closedAt) - at(a.closedAt) || b.dayId - a.dayId)
  const defaultDay: number | null = (openDay(event) ?? closed[0])?.dayId ?? null
  type Scope = { dayId?: number | null | undefined; areaId?: number | undefined }
  const inScope = ({ dayId = defaultDay, areaId }: Scope) =>
    confirmed.filter(
      ({ order }) => order.dayId === dayId && (areaId === undefined || order.areaId === areaId),
    )
  const sales = (list: typeof all) => sum(list.map(({ effective }) => effective)) / 100
  const hourOf = (time: string) =>
    Number(
      new Intl.DateTimeFormat('en', {
        hour: '2-digit',
        hourCycle: 'h23',
        timeZone: event.timeZone ?? 'UTC',
      }).format(at(time)),
    )
  const menu = new Map<number, Any>(event.menuItems.map((item: Any) => [item.menuItemId, item]))
  const nameOf = (id: number) => menu.get(id)?.name ?? `Item ${id}`
  const itemsOf = (scope: Scope) => {
    const lines = inScope(scope).flatMap(({ items }) => items)
    return unique(lines.map(({ menuItemId }) => menuItemId))
      .sort((a, b) => a - b)
      .map(menuItemId => {
        const own = lines.filter(line => line.menuItemId === menuItemId)
        const total = (name: 'quantity' | 'revenue' | 'refundedQuantity' | 'refundedRevenue') =>
          sum(own.map(line => line[name]))
        return {
          menuItemId,
          itemName: nameOf(menuItemId),
          categoryName: menu.get(menuItemId)?.categoryName ?? '',
          quantity: total('quantity'),
          revenue: total('revenue') / 100,
          refundedQuantity: total('refundedQuantity'),
          refundedRevenue: total('refundedRevenue') / 100,
          currency: 'EUR',
        }
      })
  }
  const presented = all
    .sort(
      (a, b) =>
        at(b.order.orderDateTime) - at(a.order.orderDateTime) || compare(b.order.orderId, a.order.orderId),
    )
    .map(presentOrder)

  return {
    defaultDay,
    detail: presentEvent(event),
    areaIds: event.areas.map((area: Any) => area.areaId) as number[],
    dayIds: event.days.map((day: Any) => day.dayId) as number[],
    menuItemIds: [...menu.keys()],
    kpis(scope: Scope) {
      const list = inScope(scope)
      const whole = sum(list.map(({ effective }) => effective))
      return {
        totalOrders: list.length,
        totalSales: whole / 100,
        currency: 'EUR',
        averageOrderValue:
          list.length === 0 ? 0 : Math.floor((2 * whole + list.length) / (2 * list.length)) / 100,
        totalItemsSold: sum(list.flatMap(({ items }) => items.map(({ quantity }) => quantity))),
      }
    },
    byHour(scope: Scope) {
      const list = inScope(scope)
      return unique(list.map(({ order }) => hourOf(order.orderDateTime)))
        .sort((a, b) => a - b)
        .map(hour => {
          const own = list.filter(({ order }) => hourOf(order.orderDateTime) === hour)
          return { hour, orderCount: own.length, revenue: sales(own), currency: 'EUR' }
        })
    },
    topItems: (scope: Scope, limit = 10) =>
      itemsOf(scope)
        .sort((a, b) => b.quantity - a.quantity || b.revenue - a.revenue || a.menuItemId - b.menuItemId)
        .slice(0, limit),
    itemCounts(dayId?: number, asked?: number[]) {
      const sold = itemsOf({ dayId }).map(({ menuItemId, itemName, quantity, refundedQuantity }) => ({
        menuItemId,
        itemName,
        quantitySold: quantity,
        quantityRefunded: refundedQuantity,
      }))
      if (asked === undefined) return sold
      if ((dayId ?? defaultDay) === null) return []
      return unique(asked)
        .sort((a, b) => a - b)
        .map(
          menuItemId =>
            sold.find(row => row.menuItemId === menuItemId) ?? {
              menuItemId,
              itemName: nameOf(menuItemId),
              quantitySold: 0,
              quantityRefunded: 0,
            },
        )
    },
    salesTrend(days = 7, areaId?: number) {
      const dates = unique<string>(event.days.map((day: Any) => day.date))
        .sort(compare)
        .slice(-days)
      return dates.map(date => {
        const ids = event.days.filter((day: Any) => day.date === date).map((day: Any) => day.dayId)
        const list = ids.flatMap((dayId: number) => inScope({ dayId, areaId }))
        return { date, totalSales: sales(list), orderCount: list.length, currency: 'EUR' }
      })
    },
    orders: ({ dayId, areaId, status }: { dayId?: number; areaId?: number; status?: string }) =>
      presented.filter(
        order =>
          (dayId === undefined || order.dayId === dayId) &&
          (areaId === undefined || order.areaId === areaId) &&
          (status === undefined ? order.status !== 'Cancelled' : order.status === status),
      ),
    allOrders: presented,
  }
}
export type EventOracle = ReturnType<typeof eventOracle>
