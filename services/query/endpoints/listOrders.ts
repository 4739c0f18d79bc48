import { countOrders, type OrderParts, readOrderPage } from '@tally/figures'
import { composeList } from '../http/answer.ts'
import { RequestProblem } from '../http/problems.ts'
import { hasArea, hasDay } from '../views/question.ts'
import type { Handler } from './handler.ts'
import { answerFromOrders, ifListed } from './orders.ts'

/**
 * The bytes of lines that a page may have (docs/security.md, Limits on answers): 100 orders of 500 short lines have 4
 * MB; with the longest names and notes they would have 370 MB. One order has 3.7 MB at most. To compose pages of 8 MB
 * held others up for 70 ms.
 */
const maxPageBytes = 5 * 1_024 * 1_024
/** Pages above this are composed one at a time: each takes about four times its size while it is composed. */
const usualBytes = 1_024 * 1_024

const tooLarge = (fitting: number) =>
  new RequestProblem('page-too-large', {
    errors: [{ parameter: 'pageSize', message: `must be at most ${fitting} here` }],
  })

/**
 * The total comes from the counters by status, never from counting orders (docs/architecture.md, Read path), and the
 * place of a deep page from the order buckets: in one snapshot, so that they agree.
 */
export const listOrders: Handler<'listOrders'> = {
  early: false,
  read: (readers, asked) => {
    const { dayId, areaId, status, page, pageSize } = asked.query
    const filter = { eventId: asked.params.eventId, dayId, areaId, status }
    return answerFromOrders(readers, asked, {
      key: `orders ${[dayId, areaId, status, page, pageSize].join(' ')}`,
      question: ifListed(event => hasDay(event, dayId) && hasArea(event, areaId)),
      async read(snapshot) {
        const totalCount = await countOrders(snapshot, filter)
        const offset = (page - 1) * pageSize
        const pagination = { page, pageSize, totalCount, totalPages: Math.ceil(totalCount / pageSize) }
        const compose = async (orders: OrderParts[]) => ({
          ...(await composeList(orders, pagination)),
          pagination,
        })
        if (offset >= totalCount) return compose([])
        const read = (bound: number) =>
          readOrderPage(snapshot, filter, { offset, limit: pageSize, mostBytes: bound })
        const usual = await read(usualBytes)
        if (usual.orders !== undefined) return compose(usual.orders)
        const { bytes, largest } = usual
        if (bytes > maxPageBytes) throw tooLarge(Math.floor(maxPageBytes / largest))
        return readers.largePages.enter(asked.key.organizationId, async () => {
          const { orders } = await read(bytes)
          if (orders === undefined) throw new Error('a page of orders grew within one snapshot')
          return compose(orders)
        })
      },
    })
  },
}
