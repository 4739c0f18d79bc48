import { orderId } from '@tally/contract'
import { readStoredOrder } from '@tally/figures'
import { composeText } from '../http/answer.ts'
import { type Handler, notFound } from './handler.ts'
import { answerFromOrders, ifListed } from './orders.ts'

/** An id that no order can have is a 404, like one that no order has (docs/api.md, Parameters). */
export const getOrder: Handler<'getOrder'> = {
  early: false,
  read: (readers, asked) => {
    const { eventId, id } = asked.params
    return answerFromOrders(readers, asked, {
      key: `order ${id}`,
      question: ifListed(() => orderId.safeParse(id).success),
      async read(snapshot) {
        const order = await readStoredOrder(snapshot, eventId, id)
        if (order === undefined) throw notFound()
        return composeText(order)
      },
    })
  },
}
