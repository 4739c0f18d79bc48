import { confirmedStatuses, type EventOracle } from '@tally/testkit/oracle/event'
import { type Asked, questions } from '@tally/testkit/oracle/questions'
import { queryOf } from '@tally/testkit/oracle/words'

/** Questions, as paths below `/api/v1/events/<id>`, and what their answers must say. */
export type Answers = Asked[]

const allStatuses = ['PreOrder', 'Pending', ...confirmedStatuses, 'Cancelled']
const pageSize = 100

/** Every answer about an event; of orders, each page once: so many questions can be asked after each fault. */
export function answersOf(expected: EventOracle): Answers {
  const { listOrders: _, getOrder: __, ...others } = questions
  return [...Object.values(others).flatMap(asked => asked(expected)), ...orderLists(expected)]
}

/** All pages of the list, the first page of each status, and the newest orders one by one. */
function orderLists({ orders, allOrders }: EventOracle): Asked[] {
  const page = (filter: { status?: string }, number: number): Asked => {
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
