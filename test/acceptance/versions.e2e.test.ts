import { randomUUID } from 'node:crypto'
import { runScenario } from '@tally/testkit/oracle/scenario'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'

const tally = useTally()
const orderId = 'A-1'

test.concurrent('an equal or older version of an order changes nothing, whenever it comes', async () => {
  const festival = newFestival()
  const order = (version: number, totalAmount: number) => festival.order({ orderId, version, totalAmount })
  const first = [festival.event(), order(5, 10), order(5, 99), order(4, 98)]
  const { data } = await runScenario(
    tally,
    festival,
    first,
    [order(5, 97), order(1, 96)],
    [order(2 ** 53 - 1, 11)],
    [order(6, 95)],
  )
  expect((await data('/analytics/kpis')).totalSales).toBe(11)
})

test.concurrent('an equal or older version of an event changes nothing', async () => {
  const festival = newFestival()
  const event = (version: number, name: string) => festival.event({ version, name })
  const { data } = await runScenario(
    tally,
    festival,
    [event(3, 'new'), event(2, 'old')],
    [event(3, 'other'), event(1, 'oldest')],
  )
  expect((await data('')).name).toBe('new')
})

test.concurrent('every record twice counts once', async () => {
  const festival = newFestival()
  const once = [festival.event(), festival.order({ orderId }), festival.refund({ orderId }), festival.order()]
  const { data } = await runScenario(tally, festival, [...once, ...once], once)
  expect(await data('/analytics/kpis')).toMatchObject({ totalOrders: 2, totalSales: 42.5 })
})

test.concurrent('the first refund of an id wins, also for another order', async () => {
  const festival = newFestival()
  const refund = (amount: number, over = {}) =>
    festival.refund({ orderId, refundId: 'R', amount, lines: [], ...over })
  const first = [
    festival.event(),
    festival.order({ orderId }),
    festival.order({ orderId: 'B' }),
    refund(1),
    refund(2),
  ]
  const { data } = await runScenario(tally, festival, first, [refund(3), refund(4, { orderId: 'B' })])
  expect((await data('/analytics/kpis')).totalSales).toBe(54)
})

test.concurrent('the same order id and refund id in another event are others', async () => {
  const festival = newFestival()
  const other = newFestival({ organizationId: festival.organizationId })
  const first = [
    festival.event(),
    other.event(),
    festival.order({ orderId }),
    other.order({ orderId, totalAmount: 7 }),
  ]
  const refunds = [
    festival.refund({ orderId, refundId: 'R' }),
    other.refund({ orderId, refundId: 'R', amount: 13 }),
  ]
  const { data } = await runScenario(tally, festival, first, refunds)
  expect((await data('/analytics/kpis')).totalSales).toBe(15)
})

test.concurrent('an event never moves to another organization, whatever the version; the record is a dead letter', async () => {
  const festival = newFestival()
  const thief = newFestival({ eventId: festival.eventId })
  const stolen = (version: number) => thief.event({ version, name: 'stolen' })
  const waves = [[stolen(1), stolen(9), stolen(2)], [festival.event({ version: 2, name: 'kept' })]]
  const { data } = await runScenario(tally, festival, [festival.event(), stolen(5)], ...waves)
  expect((await data('')).name).toBe('kept')
  await tally.count([thief.organization()])
  const token = await tally.key(thief.organizationId)
  expect((await tally.get('/api/v1/events', { token })).body.data).toEqual([])
  expect((await tally.get(festival.path, { token })).status).toBe(404)
  const deadLetters = (await readDeadLetters(tally)).filter(({ key }) => String(key) === festival.eventId)
  expect(deadLetters.map(deadLetter => headerOf(deadLetter, 'tally.reason'))).toEqual(
    Array(4).fill('conflict'),
  )
})

test.concurrent('what a rejected record says has not been said: its version and its refund id are still free', async () => {
  const festival = newFestival()
  const bad = [
    festival.event({ version: 8, name: '' }),
    festival.order({ orderId, version: 8, status: 'Lost' }),
    festival.refund({ orderId, refundId: 'R', amount: -1 }),
    { ...festival.order({ orderId, version: 9 }), key: randomUUID() },
  ]
  const good = [festival.event(), festival.order({ orderId }), festival.refund({ orderId, refundId: 'R' })]
  const { data } = await runScenario(tally, festival, [festival.event(), festival.order({ orderId })])
  await tally.count([...bad, ...good])
  expect((await data('/analytics/kpis')).totalSales).toBe(15)
})
