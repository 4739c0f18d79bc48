import { randomUUID } from 'node:crypto'
import { runScenario } from '@tally/testkit/oracle/scenario'
import { ask } from '@tally/testkit/processes/http'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
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

test.concurrent('each type of record is contradicted under its version, and repeated in any form; a refund keeps its order', async () => {
  const festival = newFestival()
  const { eventId } = festival
  const json = (record: TestRecord, edit: (text: string) => string): TestRecord => ({
    ...record,
    key: record.type === 'organizations' ? festival.organizationId : eventId,
    value: Buffer.from(edit(JSON.stringify(record.value))),
  })
  const organization = festival.organization()
  const event = festival.event()
  const order = festival.order({ orderId, tableNumber: null })
  const refund = festival.refund({ orderId, refundId: 'R' })
  await tally.count([organization, event, order, refund])
  await tally.count([
    json(organization, text => text.replace('"version":1', ' "version" : 1.0 ')),
    json(event, text => text.replace(eventId, eventId.toUpperCase()).replaceAll(',', ', ')),
    json({ ...event, value: { ...event.value, areas: event.value.areas.toReversed() } }, text => text),
    json(order, text => text.replace('27.5', '2.750e1').replace(',"tableNumber":null', '')),
    json({ ...order, value: Object.fromEntries(Object.entries(order.value).toReversed()) }, text => text),
    json(order, text => text.replace('2026-09-05T19:31:07Z', '2026-09-05T21:31:07.000+02:00')),
    json(refund, text => text.replace('{', '{"version":1,"unknown":[],')),
  ])
  const before = await readDeadLetters(tally)
  const ofFestival = [eventId, festival.organizationId]
  const mine = (letters: typeof before) => letters.filter(({ key }) => ofFestival.includes(String(key)))
  expect(mine(before)).toEqual([])
  await tally.count([
    festival.organization({ name: 'Another' }),
    festival.event({ timeZone: 'Europe/Vatican' }),
    festival.order({ orderId, tableNumber: '' }),
    festival.refund({ orderId, refundId: 'R', amount: 12 }),
    festival.refund({ orderId: 'B', refundId: 'R', version: 3 }),
  ])
  const letters = mine(await readDeadLetters(tally))
  const reasons = letters.map(letter => headerOf(letter, 'tally.reason'))
  expect(reasons.toSorted()).toEqual(['conflict', ...Array(4).fill('contradiction')])
  const fields = letters.map(letter => headerOf(letter, '__connect.errors.exception.message').split(':')[0])
  expect(fields.toSorted()).toEqual(['amount', 'name', 'orderId', 'tableNumber', 'timeZone'])
})
