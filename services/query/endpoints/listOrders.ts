import { countOrders, readOrderPage } from '@tally/read-models'
import { composeText } from '../views/composed.ts'
import { hasArea, hasDay } from '../views/question.ts'
import { endpointRead } from './endpoint.ts'
import { answerFromOrders, ifListed } from './orders.ts'

/**
 * The total comes from the counters by status, never from counting orders (docs/architecture.md, Read path), and the
 * place of a deep page from the order buckets: in one snapshot, so that they agree.
 */
export const listOrders = endpointRead({
  name: 'listOrders',
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
        const orders =
          offset >= totalCount ? [] : await readOrderPage(snapshot, filter, { offset, limit: pageSize })
        const pagination = { page, pageSize, totalCount, totalPages: Math.ceil(totalCount / pageSize) }
        return { ...composeText(`[${orders.join(',')}]`, pagination), pagination }
      },
    })
  },
})
