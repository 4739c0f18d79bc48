import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { burger, newFestival as makeFestival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'
import { goodTimestamps } from './timestamps.ts'

const tally = useSharedTally()
/** Keys of this file's records: other files count with the same processes. */
const keys = new Set<string>()
function newFestival() {
  const festival = makeFestival()
  keys.add(festival.eventId).add(festival.organizationId)
  return festival
}
const orderId = 'A-1'
const line = { menuItemId: burger, itemName: 'Burger', quantity: 1, unitPrice: 1 }
const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index))
/** The same record with numbers or fields written another way: JSON.stringify cannot write 2.0. */
const written = (record: TestRecord, from: string, to: string): TestRecord => ({
  ...record,
  key: record.value.eventId,
  value: Buffer.from(JSON.stringify(record.value).replace(from, to)),
})

test.concurrent.for(goodTimestamps)(
  'the timestamp %s is good, and answered as %s',
  async ([orderDateTime, answered]) => {
    const festival = newFestival()
    const { data } = await runScenario(tally, festival, [
      festival.event(),
      festival.order({ orderId, orderDateTime }),
    ])
    expect((await data(`/orders/${orderId}`)).orderDateTime).toBe(answered)
  },
)

test.concurrent.for([
  ['"version":1', '"version":2.0'],
  ['"totalAmount":27.5', '"totalAmount":2.75e1'],
  ['"totalAmount":27.5', '"totalAmount":27.500000'],
  ['"totalAmount":27.5', '"totalAmount":99999999.99'],
  ['"totalAmount":27.5', '"totalAmount":0'],
  ['"areaId":1', '"areaId":2147483647'],
  ['"areaId":1', '"areaId":1e0'],
  ['"quantity":2', '"quantity":100000'],
  ['"unitPrice":12.5', '"unitPrice":1.25e1'],
  ['"unitPrice":12.5', '"unitPrice":49999998.74'],
] as const)('%s may be written %s', async ([from, to]) => {
  const festival = newFestival()
  const record = written(festival.order({ orderId }), from, to)
  const { data } = await runScenario(tally, festival, [festival.event()])
  await tally.count([record])
  const { value } = record
  expect(await data(`/orders/${orderId}`)).toMatchObject({
    totalAmount: JSON.parse(String(value)).totalAmount,
  })
})

test.concurrent('texts at their bounds are kept and answered as they came', async () => {
  const festival = newFestival()
  const orders = [
    {
      orderId: '!'.repeat(64),
      displayOrderNumber: 'x'.repeat(200),
      paymentMethod: '',
      tableNumber: '',
      items: [],
    },
    {
      orderId: '~%?#&+"\\',
      displayOrderNumber: ' # ',
      paymentMethod: '💶'.repeat(100),
      tableNumber: '7'.repeat(50),
    },
    {
      orderId: '...',
      tableNumber: undefined,
      items: [
        { ...line, itemName: ' é́\u2028 ', note: '' },
        { ...line, note: 'n'.repeat(1000) },
      ],
    },
    { orderId: 'z', items: list(500, () => line), tableNumber: null },
  ]
  await runScenario(tally, festival, [festival.event(), ...orders.map(over => festival.order(over))])
})

test.concurrent('an event at its bounds is good', async () => {
  const festival = newFestival()
  const days = list(1000, index => ({
    dayId: index + 1,
    date: '2026-09-05',
    openedAt: '2026-09-05T10:00:00Z',
    closedAt: '2026-09-05T12:00:00+02:00',
  }))
  const areas = list(200, index => ({ areaId: 2_147_483_647 - index, name: 'x'.repeat(200) }))
  const menuItems = list(2000, index => ({ menuItemId: index + 1, name: 'x', categoryName: '' }))
  await tally.count([
    festival.organization(),
    festival.event({ days, areas, menuItems, name: ' ' }),
    festival.order({ dayId: 1000 }),
  ])
  const token = await tally.key(festival.organizationId)
  const { body } = await tally.get(`${festival.path}/analytics/kpis?areaId=2147483647`, { token })
  expect(body).toMatchObject({ meta: { dayId: 1000 }, data: { totalOrders: 0 } })
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
  expect(keys.size).toBeGreaterThan(20)
  expect(deadLetters.filter(({ key }) => keys.has(String(key).toLowerCase()))).toEqual([])
})
