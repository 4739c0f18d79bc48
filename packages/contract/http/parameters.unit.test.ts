import { expect, test } from 'vitest'
import { endpoints } from './endpoints/index.ts'

const { getKpis, getSalesTrend, getTopItems, getItemCounts, listOrders, getOrder } = endpoints
const badIntegers = [
  ...['0', '042', '+42', '-1', '4.0', '0x2A', '', ' 7', '7 ', '1e3', '4e1', '٣', '1,2', '1_0', 'null', 'NaN'],
  ...['2147483648', '99999999999999999999', ['1', '2'], ['1', '1']],
]
const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1).join(',')

type Endpoint = (typeof endpoints)[keyof typeof endpoints]
type Row = [endpoint: Endpoint, name: string, good: readonly unknown[], bad: readonly unknown[]]

const parameters: Row[] = [
  ...Object.values(endpoints).flatMap(endpoint =>
    ['dayId', 'areaId']
      .filter(name => name in endpoint.query.shape)
      .map((name): Row => [endpoint, name, ['1', '42', '2147483647'], badIntegers]),
  ),
  [getSalesTrend, 'days', ['1', '365'], [...badIntegers, '366']],
  [getTopItems, 'limit', ['1', '100'], [...badIntegers, '101']],
  [listOrders, 'page', ['1', '1000000'], [...badIntegers, '1000001']],
  [listOrders, 'pageSize', ['1', '100'], [...badIntegers, '101']],
  [listOrders, 'status', ['Paid', 'Cancelled'], ['paid', '', 'All', 'Refunded', 'Paid ', ['Paid', 'Paid']]],
  [
    getItemCounts,
    'menuItemIds',
    ['7', '7,9', ids(200), '2147483647', Array(500).fill('7').join(',')],
    ['', ',', '7,', ',7', '7,,9', '7, 9', '0', '07', '7;9', ids(201), '2147483648', ['7', '9']],
  ],
]

test.each(parameters)(
  '%# a parameter takes its good values and refuses the bad ones',
  (endpoint, name, good, bad) => {
    for (const value of good)
      expect([value, endpoint.query.safeParse({ [name]: value }).success]).toEqual([value, true])
    for (const value of bad)
      expect([value, endpoint.query.safeParse({ [name]: value }).success]).toEqual([value, false])
  },
)

test('what is not given has its default', () => {
  expect(getKpis.query.parse({})).toEqual({})
  expect(getSalesTrend.query.parse({})).toEqual({ days: 7 })
  expect(getTopItems.query.parse({})).toEqual({ limit: 10 })
  expect(listOrders.query.parse({})).toEqual({ page: 1, pageSize: 20 })
})

test('repeated menu item ids count once', () => {
  expect(getItemCounts.query.parse({ menuItemIds: '9,7,9' }).menuItemIds).toEqual([9, 7])
})

test('unknown parameters are ignored, and item counts have no area', () => {
  expect(getItemCounts.query.parse({ areaId: 'x', whatever: ['1', '2'] })).toEqual({})
})

test('an event id is taken in any case; one that is not a UUID is refused', () => {
  const eventId = '7C1E0000-0000-0000-0000-00000000000A'
  expect(getKpis.params.parse({ eventId })).toEqual({ eventId: eventId.toLowerCase() })
  const wrong = [
    '',
    '7',
    'no-uuid',
    '{}',
    '   ',
    'x'.repeat(5_000),
    `${eventId.slice(0, -1)}g`,
    `${eventId}0`,
  ]
  for (const bad of [...wrong, eventId.replaceAll('-', '')])
    expect(getKpis.params.safeParse({ eventId: bad }).success).toBe(false)
})

test('an order id that cannot exist is not an invalid parameter', () => {
  const eventId = '7c1e0000-0000-0000-0000-00000000000a'
  for (const id of ['A-1', '.', 'é', 'x'.repeat(999)])
    expect(getOrder.params.parse({ eventId, id })).toEqual({ eventId, id })
})

test('the message of a bad parameter says what it takes, not what it got', () => {
  const message = (query: Record<string, string>) =>
    listOrders.query.safeParse(query).error?.issues[0]?.message
  expect(message({ pageSize: '101' })).toBe('must be a whole number from 1 to 100 in plain digits')
  expect(message({ pageSize: 'MARKER' })).not.toContain('MARKER')
  expect(message({ status: 'MARKER' })).not.toContain('MARKER')
})
