import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { endpoints } from './endpoints.ts'
import { openApiDocument } from './openapi.ts'

type Schema = Record<string, unknown>
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Operation = {
  operationId: string
  parameters: Parameter[]
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  openapi: string
  paths: Record<string, { get: Operation }>
  components: { schemas: Record<string, Schema> }
}
const operations = Object.values(document.paths).map(({ get }) => get)
const operation = (id: keyof typeof endpoints) =>
  operations.find(({ operationId }) => operationId === id) as Operation
const parameter = (id: keyof typeof endpoints, name: string) =>
  operation(id).parameters.find(found => found.name === name)

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema({ ...document, $id: 'https://example.org/openapi.json' })

/** What is wrong with an answer by the document's schema of an endpoint; null if nothing is. */
function faults(id: keyof typeof endpoints, answer: unknown) {
  const path = Object.keys(document.paths).find(path => document.paths[path]?.get.operationId === id) ?? ''
  const pointer = path
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replaceAll('{', '%7B')
    .replaceAll('}', '%7D')
  const $ref = `https://example.org/openapi.json#/paths/${pointer}/get/responses/200/content/application~1json/schema`
  const check = ajv.compile({ $ref })
  return check(answer) ? null : check.errors
}

test('the document is OpenAPI 3.1 and names the nine paths of the contract', () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  const event = '/api/v1/events/{eventId}'
  expect(Object.keys(document.paths).sort()).toEqual([
    '/api/v1/events',
    event,
    `${event}/analytics/kpis`,
    `${event}/analytics/orders/by-hour`,
    `${event}/analytics/orders/top-items`,
    `${event}/analytics/sales-trend`,
    `${event}/live/item-counts`,
    `${event}/orders`,
    `${event}/orders/{id}`,
  ])
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(9)
})

test('every name in braces of a path is a required path parameter, and no other is', () => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    const inPath = (get.parameters ?? []).filter(found => found.in === 'path')
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    expect(inPath.every(({ required }) => required === true)).toBe(true)
  }
})

test.each([
  ['getKpis', 'dayId', 1, 2_147_483_647],
  ['getKpis', 'areaId', 1, 2_147_483_647],
  ['getSalesTrend', 'days', 1, 365],
  ['getTopItems', 'limit', 1, 100],
  ['listOrders', 'page', 1, 1_000_000],
  ['listOrders', 'pageSize', 1, 100],
] as const)(
  '%s says that %s is an integer from %i to %i that may be left out',
  (id, name, minimum, maximum) => {
    expect(parameter(id, name)?.schema).toMatchObject({ type: 'integer', minimum, maximum })
    expect(parameter(id, name)?.required ?? false).toBe(false)
  },
)

test('every error is the component Problem, as application/problem+json', () => {
  expect(document.components.schemas.Problem).toMatchObject({ type: 'object' })
  for (const { responses } of operations) {
    for (const status of ['400', '401', '403', '404', '429', '503'])
      expect(responses[status]?.content).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      })
  }
})

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).match(/"#\/components\/schemas\/\w+"/g) ?? []
  for (const reference of new Set(references))
    expect(document.components.schemas[JSON.parse(reference).split('/').at(-1)]).toBeDefined()
})

const eventId = '7c1e0000-0000-0000-0000-00000000000a'
const meta = { generatedAt: '2026-09-04T19:31:07.123Z', eventId, asOf: '2026-09-04T19:31:07Z' }
const dayMeta = { ...meta, dayId: 41 }
const order = {
  id: 'A-1',
  displayOrderNumber: '1',
  status: 'Paid',
  areaId: 1,
  dayId: 41,
  orderDateTime: '2026-09-04T19:31:07Z',
  paymentMethod: '',
  amountPaid: 30,
  totalAmount: 27.35,
  effectiveAmount: 0.29,
  isTakeaway: false,
  tableNumber: null,
  items: [{ menuItemId: 7, itemName: 'Burger', quantity: 2, unitPrice: 12.35, note: null }],
}
const event = {
  id: eventId,
  name: 'Sagra',
  startDate: '2026-09-04T16:00:00Z',
  isOpen: false,
  currentDay: null,
}
const currentDay = { id: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00.5Z' }
const listMeta = { generatedAt: meta.generatedAt, eventId: '00000000-0000-0000-0000-000000000000' }
const pagination = { page: 1, pageSize: 20, totalCount: 1, totalPages: 1 }
const answers: [keyof typeof endpoints, { data: unknown; meta: Schema }][] = [
  ['listEvents', { data: [event, { ...event, isOpen: true, currentDay }], meta: listMeta }],
  ['getEvent', { data: event, meta: { ...meta, asOf: null } }],
  [
    'getKpis',
    {
      data: {
        totalOrders: 1,
        totalSales: 17.29,
        currency: 'EUR',
        averageOrderValue: 17.29,
        totalItemsSold: 2,
      },
      meta: { ...dayMeta, dayId: null },
    },
  ],
  ['getSalesTrend', { data: [{ date: '2026-09-04', totalSales: 0, orderCount: 0, currency: 'EUR' }], meta }],
  ['getOrdersByHour', { data: [{ hour: 0, orderCount: 1, revenue: 1.1, currency: 'EUR' }], meta: dayMeta }],
  [
    'getTopItems',
    {
      data: [
        {
          menuItemId: 7,
          itemName: 'Burger',
          categoryName: '',
          quantity: 0,
          revenue: 0,
          refundedQuantity: 1,
          refundedRevenue: 8.5,
          currency: 'EUR',
        },
      ],
      meta: dayMeta,
    },
  ],
  [
    'getItemCounts',
    { data: [{ menuItemId: 7, itemName: 'Burger', quantitySold: 0, quantityRefunded: 1 }], meta: dayMeta },
  ],
  ['listOrders', { data: [order], meta: { ...meta, pagination } }],
  ['getOrder', { data: order, meta }],
]

test.each(answers)('an answer of %s is what the document says', (id, answer) => {
  expect(faults(id, answer)).toBeNull()
  expect(endpoints[id].answer.safeParse(answer).error).toBeUndefined()
  expect(faults(id, { ...answer, meta: { ...answer.meta, eventId: 7 } })).not.toBeNull()
})

test.each(answers)('an answer of %s may carry a field that is added later', (id, answer) => {
  const later = { added: 1 }
  const data = Array.isArray(answer.data)
    ? answer.data.map(entry => ({ ...entry, ...later }))
    : { ...(answer.data as Schema), ...later }
  expect(faults(id, { ...later, data, meta: { ...answer.meta, ...later } })).toBeNull()
})

test('an event id in any case is good by the document too', () => {
  const check = ajv.compile(parameter('getEvent', 'eventId')?.schema ?? {})
  expect(check('7C1E0000-0000-0000-0000-00000000000A')).toBe(true)
})
