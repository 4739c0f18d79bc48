import { documentName, emptyDocument } from '@tally/figures'
import { anEvent } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
import type { Composed } from '../http/answer.ts'
import { Overloaded } from '../postgres/gate.ts'
import type { Question } from '../views/question.ts'
import { getKpis } from './getKpis.ts'
import { getOrder } from './getOrder.ts'
import { getOrdersByHour } from './getOrdersByHour.ts'
import type { Readers } from './handler.ts'

const event = { ...anEvent(), shard: 0 }
const [day] = event.days
const dayId = day?.dayId ?? 0
const kpis = { ...emptyDocument.kpis, totalOrders: 3 }
const hour = { hour: 19, orderCount: 3, revenue: 30, currency: 'EUR' }
/** As a newer version, whose processes run next to this one during an upgrade, may write them. */
const documents = new Map([
  [documentName('kpis', dayId, 0), JSON.stringify({ ...kpis, portions: 7 })],
  [documentName('hours', dayId, 0), JSON.stringify([{ portions: 7, ...hour }])],
])
const views = {
  ask: async (_of: unknown, question: Question) => {
    const plan = question(event)
    return { event, revision: 1, plan, composed: plan?.compose(documents), asOfMs: 0 }
  },
}

test.each([
  ['the KPIs', getKpis, kpis],
  ['the hours', getOrdersByHour, [hour]],
])('%s are answered with the fields of the contract alone', async (_, endpoint, data) => {
  const asked = { key: { eventId: null }, params: { eventId: event.eventId }, query: { dayId } }
  const answer = await endpoint.read({ views } as unknown as Readers, asked as never)
  // What follows the data of an answer is added when it is sent.
  expect(JSON.parse(`${(answer as Composed).text}}`)).toEqual({ data })
})

test.each([
  ['down', new Error('Connection terminated'), 'Service unavailable'],
  ['busy', new Overloaded(), 'Service unavailable'],
  ['up, but the read has a defect', new RangeError('a defect'), 'a defect'],
])('orders, if Postgres is %s', async (_, error, problem) => {
  const readers = { views, shared: { share: () => Promise.reject(error) }, onFailure() {} }
  const asked = { key: { eventId: null }, params: { eventId: event.eventId, id: '1' } }
  await expect(getOrder.read(readers as unknown as Readers, asked as never)).rejects.toThrow(problem)
})
