import { type Bucket, bucketsOf, type Counted, confirmedStatuses, countOrders, total } from './count.ts'
import type { EventBook, Raw } from './eventBook.ts'

/** One question, as a path below `/api/v1/events/<id>`, and what its answer must say. */
export type Expected = { path: string; data: unknown; meta?: Record<string, unknown> }
export type Answers = Expected[]

const allStatuses = ['PreOrder', 'Pending', ...confirmedStatuses, 'Cancelled']
const pageSize = 100
const currency = 'EUR'

const utc = (text: string) => new Date(text).toISOString().replace('.000Z', 'Z')
const isOpen = (day: Raw) => (day.closedAt ?? null) === null

/** Every answer about an event whose own record is known (docs/records.md, Counting; docs/api.md, Answers). */
export function answersOf(book: EventBook): Answers {
  const { event } = book
  const days: Raw[] = event.days
  const dayIds: number[] = days.map(day => day.dayId)
  const areaIds: number[] = event.areas.map((area: Raw) => area.areaId)
  const lastClosed = days
    .filter(day => !isOpen(day))
    .sort((one, other) => Date.parse(other.closedAt) - Date.parse(one.closedAt) || other.dayId - one.dayId)[0]
  const defaultDay: number | null = (days.find(isOpen) ?? lastClosed)?.dayId ?? null
  const orders = countOrders(book)
  const bucket = bucketsOf(event, orders)
  const names = new Map<number, Raw>(event.menuItems.map((item: Raw) => [item.menuItemId, item]))
  const scopes = [undefined, ...dayIds].flatMap(dayId =>
    [undefined, ...areaIds].map(areaId => ({ dayId, areaId, at: bucket(dayId ?? defaultDay, areaId) })),
  )
  const trend = (areaId?: number) => {
    const dates = [...new Set<string>(days.map(day => day.date))].sort().slice(-365)
    return dates.map(date => {
      const own = days.filter(day => day.date === date).map(day => bucket(day.dayId, areaId))
      return {
        date,
        totalSales: total(own.map(({ cents }) => cents)) / 100,
        orderCount: total(own.map(({ orders }) => orders)),
        currency,
      }
    })
  }

  return [
    { path: '', data: presentEvent(event) },
    ...scopes.flatMap(({ dayId, areaId, at }): Expected[] => {
      const meta = { dayId: dayId ?? defaultDay }
      const query = queryOf({ dayId, areaId })
      const rows = itemRows(at, names)
      return [
        { path: `/analytics/kpis${query}`, data: kpis(at), meta },
        { path: `/analytics/orders/by-hour${query}`, data: hours(at), meta },
        {
          path: `/analytics/orders/top-items${queryOf({ dayId, areaId, limit: 100 })}`,
          data: topItems(rows),
          meta,
        },
        ...(areaId === undefined
          ? [{ path: `/live/item-counts${query}`, data: itemCounts(rows), meta }]
          : []),
      ]
    }),
    ...[undefined, ...areaIds].map(areaId => ({
      path: `/analytics/sales-trend${queryOf({ days: 365, areaId })}`,
      data: trend(areaId),
    })),
    ...orderLists(orders),
  ]
}

function kpis({ orders, cents, items }: Bucket) {
  // To the cent, halves away from zero; `+ 0` turns -0 into 0.
  const average = orders === 0 ? 0 : (Math.sign(cents) * Math.floor(Math.abs(cents) / orders + 0.5)) / 100 + 0
  const sold = total([...items.values()].map(({ quantity }) => quantity))
  return {
    totalOrders: orders,
    totalSales: cents / 100,
    currency,
    averageOrderValue: average,
    totalItemsSold: sold,
  }
}

function hours({ hours }: Bucket) {
  return [...hours]
    .sort(([one], [other]) => one - other)
    .map(([hour, { orders, cents }]) => ({ hour, orderCount: orders, revenue: cents / 100, currency }))
}

function itemRows({ items }: Bucket, names: Map<number, Raw>) {
  return [...items]
    .sort(([one], [other]) => one - other)
    .map(([menuItemId, { quantity, revenue, refundedQuantity, refundedRevenue }]) => ({
      menuItemId,
      itemName: (names.get(menuItemId)?.name ?? `Item ${menuItemId}`) as string,
      categoryName: (names.get(menuItemId)?.categoryName ?? '') as string,
      quantity,
      revenue: revenue / 100,
      refundedQuantity,
      refundedRevenue: refundedRevenue / 100,
      currency,
    }))
}
type Row = ReturnType<typeof itemRows>[number]

const topItems = (rows: Row[]) =>
  rows
    .toSorted(
      (one, other) =>
        other.quantity - one.quantity || other.revenue - one.revenue || one.menuItemId - other.menuItemId,
    )
    .slice(0, 100)

const itemCounts = (rows: Row[]) =>
  rows.map(({ menuItemId, itemName, quantity, refundedQuantity }) => ({
    menuItemId,
    itemName,
    quantitySold: quantity,
    quantityRefunded: refundedQuantity,
  }))

/** All pages of the list, the first page of each status, and the newest orders one by one. */
function orderLists(counted: Counted[]): Expected[] {
  const page = (list: Counted[], query: Record<string, unknown>, number: number): Expected => ({
    path: `/orders${queryOf({ ...query, pageSize, page: number })}`,
    data: list.slice((number - 1) * pageSize, number * pageSize).map(presentOrder),
    meta: {
      pagination: {
        page: number,
        pageSize,
        totalCount: list.length,
        totalPages: Math.ceil(list.length / pageSize),
      },
    },
  })
  const standing = counted.filter(({ order }) => order.status !== 'Cancelled')
  const pages = Array.from({ length: Math.max(1, Math.ceil(standing.length / pageSize)) }, (_, index) =>
    page(standing, {}, index + 1),
  )
  const perStatus = allStatuses.map(status =>
    page(
      counted.filter(({ order }) => order.status === status),
      { status },
      1,
    ),
  )
  const single = counted
    .slice(0, 3)
    .map(one => ({ path: `/orders/${one.order.orderId}`, data: presentOrder(one) }))
  return [...pages, ...perStatus, ...single]
}

export function presentOrder({ order, effective }: Counted) {
  const { orderId, orderDateTime, items, tableNumber, eventId, version, ...same } = order
  return {
    ...same,
    id: orderId,
    orderDateTime: utc(orderDateTime),
    effectiveAmount: effective / 100,
    tableNumber: tableNumber ?? null,
    items: items.map((line: Raw) => ({ ...line, note: line.note ?? null })),
  }
}

/** The events of an organization, newest first (docs/api.md, Answers). */
export function eventListOf(events: Raw[], organizationId: string) {
  return events
    .filter(event => event.organizationId === organizationId)
    .sort(
      (one, other) =>
        Date.parse(other.startDate) - Date.parse(one.startDate) || (one.eventId < other.eventId ? -1 : 1),
    )
    .map(presentEvent)
}

function presentEvent({ eventId, name, startDate, days }: Raw) {
  const open = days.find(isOpen)
  const currentDay = open ? { id: open.dayId, date: open.date, openedAt: utc(open.openedAt) } : null
  return { id: eventId, name, startDate: utc(startDate), isOpen: open !== undefined, currentDay }
}

function queryOf(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${value}`).join('&')}`
}
