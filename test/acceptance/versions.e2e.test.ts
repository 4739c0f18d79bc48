import { randomUUID } from 'node:crypto'
import { runScenario } from '@tally/testkit/oracle/scenario'
import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'

const tally = useTally()
const orderId = 'A-1'

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

test.concurrent('order numbers that begin again each morning: the first order of a number counts, the next is a dead letter that says why', async () => {
  const festival = newFestival()
  const order = (totalAmount: number, fields: object = {}) =>
    festival.order({ orderId: '1', totalAmount, ...fields })
  const nextDay = { dayId: 41, orderDateTime: '2026-09-06T19:00:00Z', items: [] }
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), order(10)],
    [order(40, nextDay), order(10)],
    [order(50, { ...nextDay, version: 2 })],
    [order(10), order(40, nextDay)],
  )
  expect(await data('/analytics/kpis?dayId=41')).toMatchObject({ totalOrders: 1, totalSales: 50 })
  const letters = (await readDeadLetters(tally)).filter(({ key }) => String(key) === festival.eventId)
  expect(letters.map(letter => headerOf(letter, 'tally.reason'))).toEqual(['contradiction'])
  const message = letters.map(letter => headerOf(letter, '__connect.errors.exception.message'))[0]
  expect(message).toMatch(
    /^dayId: another record with this id and version was applied before .*unique within the event/,
  )
  const { ops = '' } = (await tally.projectors[0]?.started()) ?? {}
  const { text } = await ask(ops, '/metrics')
  expect(text).toMatch(
    /^tally_projector_rejected_records_total\{topic="[^"]+\.orders",reason="contradiction"\} [1-9]/m,
  )
})
