import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { type EndpointName, endpointNames, endpoints } from './endpoints/index.ts'
import { openApiDocument } from './openapi.ts'

type Schema = Record<string, unknown>
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Operation = {
  operationId: string
  parameters: Parameter[]
}
const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  openapi: string
  paths: Record<string, { get: Operation }>
  components: Record<string, Record<string, Schema>>
}
const operations = Object.values(document.paths).map(({ get }) => get)
const operation = (id: EndpointName) => operations.find(({ operationId }) => operationId === id) as Operation
const parameter = (id: EndpointName, name: string) =>
  operation(id).parameters.find(found => found.name === name)

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema({ ...document, $id: 'https://example.org/openapi.json' })

/** What is wrong with an answer by the document's schema of an endpoint; null if nothing is. */
function faults(id: EndpointName, answer: unknown) {
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

test('the document is OpenAPI 3.1 and has an operation for each endpoint', () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(operations.map(({ operationId }) => operationId)).toEqual(endpointNames)
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

test('packages/contract/openapi.json is the document; `npm run generate` writes it', () => {
  const recorded = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
  expect(recorded, 'run `npm run generate`').toBe(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
})

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).match(/(?<="\$ref":").+?(?=")/g) ?? []
  expect(references.length).toBeGreaterThan(100)
  for (const reference of new Set(references)) {
    const [root, components, kind = '', name = ''] = reference.split('/')
    expect([root, components, typeof document.components[kind]?.[name]]).toEqual([
      '#',
      'components',
      'object',
    ])
  }
})

test.each(endpointNames)('an answer of %s is what the document says', id => {
  const answer = endpoints[id].example
  expect(faults(id, answer)).toBeNull()
  expect(faults(id, { ...answer, meta: { ...answer.meta, eventId: 7 } })).not.toBeNull()
  expect(faults(id, { ...answer, data: 7 })).not.toBeNull()
})

test.each(endpointNames)('an answer of %s may carry a field that is added later', id => {
  const later = { added: 1 }
  const answer: { data: unknown; meta: Schema } = endpoints[id].example
  const data = Array.isArray(answer.data)
    ? answer.data.map(entry => ({ ...entry, ...later }))
    : { ...(answer.data as Schema), ...later }
  expect(faults(id, { ...later, data, meta: { ...answer.meta, ...later } })).toBeNull()
})

test.each([
  ['getKpis', { dayId: null }],
  ['getEvent', { asOf: null }],
] as const)('the meta of %s may have %j', (id, fields) => {
  const answer = endpoints[id].example
  expect(faults(id, { ...answer, meta: { ...answer.meta, ...fields } })).toBeNull()
})

test('an event without an open day is what the document says', () => {
  const { data, meta } = endpoints.getEvent.example
  expect(faults('getEvent', { data: { ...data, isOpen: false, currentDay: null }, meta })).toBeNull()
})

test('an event id in any case is good by the document too', () => {
  const check = ajv.compile(parameter('getEvent', 'eventId')?.schema ?? {})
  expect(check('7C1E0000-0000-0000-0000-00000000000A')).toBe(true)
})

test('each path of the API asks for the scope of its kind', () => {
  for (const { url, scope } of Object.values(endpoints)) {
    const isFigure = /^\/api\/v1\/events\/:eventId\/(analytics|live)\//.test(url)
    const isOrder = /^\/api\/v1\/events\/:eventId\/orders(\/:id)?$/.test(url)
    expect([url, scope]).toEqual([url, isFigure ? 'analytics:read' : isOrder ? 'orders:read' : 'events:read'])
  }
})
