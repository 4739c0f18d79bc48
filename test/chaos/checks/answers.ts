import { confirmedStatuses, type EventOracle } from '@tally/testkit/oracle/event'
import { queryOf } from '@tally/testkit/oracle/words'

/** One question, as a path below `/api/v1/events/<id>`, and what its answer must say. */
export type Expected = { path: string; data: unknown; meta?: Record<string, unknown> }
export type Answers = Expected[]

const allStatuses = ['PreOrder', 'Pending', ...confirmedStatuses, 'Cancelled']
const pageSize = 100

/** Every answer about an event, each figure once: so many questions can be asked after each fault. */
export function answersOf(expected: EventOracle): Answers {
  const { defaultDay, dayIds, areaIds } = expected
  const scopes = [undefined, ...dayIds].flatMap(dayId =>
    [undefined, ...areaIds].map(areaId => ({ dayId, areaId })),
  )
  return [
    { path: '', data: expected.detail },
    ...scopes.flatMap(({ dayId, areaId }): Expected[] => {
      const scope = { dayId, areaId }
      const meta = { dayId: dayId ?? defaultDay }
      const query = queryOf(scope)
      return [
        { path: `/analytics/kpis${query}`, data: expected.kpis(scope), meta },
        { path: `/analytics/orders/by-hour${query}`, data: expected.byHour(scope), meta },
        {
          path: `/analytics/orders/top-items${queryOf({ ...scope, limit: 100 })}`,
          data: expected.topItems(scope, 100),
          meta,
        },
        ...(areaId === undefined
          ? [{ path: `/live/item-counts${query}`, data: expected.itemCounts(dayId), meta }]
          : []),
      ]
    }),
    ...[undefined, ...areaIds].map(areaId => ({
      path: `/analytics/sales-trend${queryOf({ days: 365, areaId })}`,
      data: expected.salesTrend(365, areaId),
    })),
    ...orderLists(expected),
  ]
}

/** All pages of the list, the first page of each status, and the newest orders one by one. */
function orderLists({ orders, allOrders }: EventOracle): Expected[] {
  const page = (filter: { status?: string }, number: number): Expected => {
    const list = orders(filter)
    const totalPages = Math.ceil(list.length / pageSize)
    return {
      path: `/orders${queryOf({ ...filter, pageSize, page: number })}`,
      data: list.slice((number - 1) * pageSize, number * pageSize),
      meta: { pagination: { page: number, pageSize, totalCount: list.length, totalPages } },
    }
  }
  const pages = Math.max(1, Math.ceil(orders({}).length / pageSize))
  return [
    ...Array.from({ length: pages }, (_, index) => page({}, index + 1)),
    ...allStatuses.map(status => page({ status }, 1)),
    ...allOrders()
      .slice(0, 3)
      .map(order => ({ path: `/orders/${order.id}`, data: order })),
  ]
}
