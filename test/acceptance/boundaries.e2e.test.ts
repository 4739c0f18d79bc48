import { rules } from '@tally/contract/test/rules'
import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { burger, newFestival as makeFestival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'

const tally = useSharedTally()
/** Keys of this file's records: other files count with the same processes. */
const keys = new Set<string>()
function newFestival() {
  const festival = makeFestival()
  keys.add(festival.eventId).add(festival.organizationId)
  return festival
}
const orderId = 'A-1'
/** Timestamps on the good side of each bound, with what is answered. */
const timestamps = [
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
  ['1969-12-31T23:59:59-00:01', '1970-01-01T00:00:59Z'],
  ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
  ['2026-09-05T23:59:59+23:59', '2026-09-05T00:00:59Z'],
  ['2026-09-05T00:00:00-23:59', '2026-09-05T23:59:00Z'],
  ['2026-09-05T19:31:07.1299999999999Z', '2026-09-05T19:31:07.129Z'],
  ['2026-09-05T19:31:07.5-00:00', '2026-09-05T19:31:07.500Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['2000-02-29T12:00:00+14:00', '2000-02-28T22:00:00Z'],
]

test.concurrent('timestamps at their bounds are good, and answered in UTC with the milliseconds that there are', async () => {
  const festival = newFestival()
  const orders = timestamps.map(([orderDateTime], at) =>
    festival.order({ orderId: String(at), orderDateTime }),
  )
  const { data } = await runScenario(tally, festival, [festival.event(), ...orders])
  for (const [at, [, answered]] of timestamps.entries())
    expect((await data(`/orders/${at}`)).orderDateTime).toBe(answered)
})

test.concurrent('numbers may be written in any form that JSON has, up to their bounds', async () => {
  const festival = newFestival()
  // JSON.stringify cannot write 2.0.
  const records = [
    ['"version":1', '"version":2.0'],
    ['"totalAmount":27.5', '"totalAmount":2.75e1'],
    ['"totalAmount":27.5', '"totalAmount":27.500000'],
    ['"totalAmount":27.5', '"totalAmount":99999999.99'],
    ['"totalAmount":27.5', '"totalAmount":0'],
    ['"totalAmount":27.5', '"totalAmount":-99999999.99'],
    ['"quantity":2', '"quantity":-100000'],
    ['"areaId":1', '"areaId":2147483647'],
    ['"areaId":1', '"areaId":1e0'],
    ['"quantity":2', '"quantity":100000'],
    ['"unitPrice":12.5', '"unitPrice":1.25e1'],
    ['"unitPrice":12.5', '"unitPrice":49999998.74'],
  ].map(([from = '', to = ''], at) => {
    const { type, value } = festival.order({ orderId: String(at) })
    return { type, key: festival.eventId, value: Buffer.from(JSON.stringify(value).replace(from, to)) }
  })
  const { data } = await runScenario(tally, festival, [festival.event()])
  await tally.count(records)
  for (const [at, { value }] of records.entries()) {
    const { totalAmount, areaId, items } = JSON.parse(String(value))
    expect(await data(`/orders/${at}`)).toMatchObject({ totalAmount, areaId, items })
  }
})

test.concurrent('every good value of a field of orders and refunds is counted, and orders answer it as it came', async () => {
  const festival = newFestival()
  const { order, refund } = festival
  const records = Object.entries(rules).flatMap(([rule, { type, fields, good }]) =>
    good.flatMap((value, at) => {
      const orderId = `${rule.replaceAll(/\W/g, '-')}${at}`
      if (type === 'refunds') return [order({ orderId }), refund({ orderId, ...fields(value) })]
      return type === 'orders' && rule !== 'an event id' ? [order({ orderId, ...fields(value) })] : []
    }),
  )
  await runScenario(tally, festival, [festival.event(), ...records])
})

test.concurrent('ids in a value come in any case; a refund may be exactly as large as its lines', async () => {
  const festival = newFestival()
  const eventId = festival.eventId.toUpperCase()
  const organizationId = festival.organizationId.toUpperCase()
  const lines = [0.1, 0.2].map(amount => ({ menuItemId: burger, quantity: 1, amount }))
  const orders = [
    festival.order({ eventId, orderId }),
    festival.refund({ eventId, orderId, amount: 0.3, lines }),
  ]
  await runScenario(tally, festival, [
    festival.event({ eventId, organizationId }),
    ...orders,
    festival.organization({ organizationId, version: 2 }),
  ])
})

test('none of these was a dead letter', async () => {
  const deadLetters = await readDeadLetters(tally)
  expect(keys.size).toBe(8)
  expect(deadLetters.filter(({ key }) => keys.has(String(key).toLowerCase()))).toEqual([])
})
