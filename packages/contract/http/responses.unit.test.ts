import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { type EndpointName, endpointNames, endpoints } from './endpoints/index.ts'
import { openApiDocument } from './openapi.ts'
import { type ProblemType, problem, problemExample, problemTypes } from './problems.ts'

type Schema = Record<string, unknown>
type Header = { required?: boolean; schema: Schema; example: unknown }
type Content = { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
type Response = { headers: Record<string, Header>; content?: Record<string, Content> }
type Operation = {
  operationId: EndpointName
  tags: string[]
  parameters: Schema[]
  responses: Record<string, Response>
}

const document = openApiDocument() as unknown as {
  tags: { name: string; description: string }[]
  paths: Record<string, { get: Operation }>
}
const operations = Object.values(document.paths).map(({ get }) => resolved(get) as Operation)
const ajv = new Ajv2020({ strict: false })
formats.default(ajv)

test('every operation takes If-None-Match as a parameter', () => {
  expect(operations).toHaveLength(endpointNames.length)
  for (const { parameters } of operations)
    expect(parameters).toContainEqual(
      expect.objectContaining({
        name: 'If-None-Match',
        in: 'header',
        required: false,
        schema: { type: 'string' },
      }),
    )
})

const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
const content = ['Cache-Control', 'ETag', ...rate, 'X-Request-Id']
const own = ['Cache-Control', 'X-Request-Id']

test.each([
  ['200', content, ['Tally-As-Of', 'Tally-Ignored']],
  ['304', content, ['Tally-As-Of', 'Tally-Ignored']],
  ['400', own, rate],
  ['401', ['WWW-Authenticate', ...own], []],
  ['403', [...rate, ...own], []],
  ['404', own, rate],
  ['408', own, []],
  ['429', ['Retry-After', ...rate, ...own], []],
  ['431', own, []],
  ['500', own, rate],
  ['503', ['Retry-After', ...own], rate],
])('a %s carries %j and, if it applies, %j', (status, required, optional) => {
  for (const { operationId, responses } of operations) {
    const headers = Object.entries(responses[status]?.headers ?? {})
    const named = (isRequired: boolean) =>
      headers.filter(([, header]) => (header.required ?? false) === isRequired).map(([name]) => name)
    expect(named(true).sort()).toEqual(required.toSorted())
    const ofEvents = optional.filter(name => operationId !== 'listEvents' || name !== 'Tally-As-Of')
    expect(named(false).sort()).toEqual(ofEvents)
  }
})

test('counts and seconds are integers, Tally-As-Of is a timestamp, and each example fits', () => {
  const seen = new Map<string, Header>()
  for (const { responses } of operations)
    for (const { headers } of Object.values(responses))
      for (const [name, header] of Object.entries(headers)) seen.set(name, header)
  for (const name of [...rate, 'Retry-After']) expect(seen.get(name)?.schema.type).toBe('integer')
  expect(seen.get('Tally-As-Of')?.schema).toEqual({ type: 'string', format: 'date-time' })
  expect(seen.size).toBe(10)
  for (const [name, { schema, example }] of seen)
    expect({ name, fits: ajv.validate(schema, example) }).toEqual({ name, fits: true })
})

test('every 200 has an example that its schema parses, with no field that the schema does not know', () => {
  for (const { operationId, responses } of operations) {
    const example = responses['200']?.content?.['application/json']?.example
    expect(example).toEqual(endpoints[operationId].example)
    expect(endpoints[operationId].answer.parse(example)).toEqual(example)
  }
})

test('every problem of a GET request has an example under its status, and it is a problem', () => {
  for (const { responses } of operations) {
    const examples = Object.entries(responses).flatMap(([status, { content }]) =>
      Object.entries(content?.['application/problem+json']?.examples ?? {}).map(([type, { value }]) => {
        expect(problem.strict().parse(value)).toEqual(value)
        expect(value).toMatchObject({ type: `/problems/${type}`, status: Number(status) })
        return type
      }),
    )
    // A GET is never a method that is not allowed.
    const types = Object.keys(problemTypes).filter(type => type !== 'method-not-allowed')
    expect(examples.sort()).toEqual(types.sort())
  }
})

test('the detail of a problem about parameters begins with the first mistake; of others it is the help', () => {
  const detailOf = (type: ProblemType) => problemExample(type).detail
  expect(detailOf('invalid-parameters')).toMatch(
    /^limit must be a whole number from 1 to 100 in plain digits\. `errors`/,
  )
  expect(detailOf('page-too-large')).toMatch(/^pageSize must be at most 13 here\. The orders/)
  expect(detailOf('not-found')).toBe(problemTypes['not-found'].help)
})

test('every answer that is not 200 or 304 is the component Problem', () => {
  for (const { get } of Object.values(document.paths))
    for (const [status, { content }] of Object.entries((resolved(get, 'schemas') as Operation).responses)) {
      if (status === '200') continue
      const schema = { $ref: '#/components/schemas/Problem' }
      expect(content?.['application/problem+json']?.schema).toEqual(status === '304' ? undefined : schema)
    }
})

test('the figures of the examples add up', () => {
  const { getKpis, getOrdersByHour, getTopItems, getItemCounts, getSalesTrend } = endpoints
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
  const { totalOrders, totalSales, totalItemsSold, averageOrderValue } = getKpis.example.data
  expect(averageOrderValue).toBe(totalSales / totalOrders)
  expect(sum(getOrdersByHour.example.data.map(({ orderCount }) => orderCount))).toBe(totalOrders)
  expect(sum(getOrdersByHour.example.data.map(({ revenue }) => revenue))).toBe(totalSales)
  expect(sum(getTopItems.example.data.map(({ quantity }) => quantity))).toBe(totalItemsSold)
  expect(sum(getItemCounts.example.data.map(({ quantitySold }) => quantitySold))).toBe(totalItemsSold)
  expect(getSalesTrend.example.data.at(-1)).toMatchObject({ totalSales, orderCount: totalOrders })
})

test('the contact is the operator, at the address that the installation names', () => {
  const name = 'The operator of this service'
  const contactOf = (contact?: string) => openApiDocument(contact).info.contact
  expect(contactOf()).toEqual({ name })
  expect(contactOf('api@example.org')).toEqual({ name, email: 'api@example.org' })
  expect(contactOf('https://example.org/api')).toEqual({ name, url: 'https://example.org/api' })
})

test('every tag is declared and says what it holds', () => {
  const declared = document.tags.map(({ name }) => name)
  expect([...new Set(operations.flatMap(({ tags }) => tags))].sort()).toEqual(declared.sort())
  for (const { description } of document.tags) expect(description.length).toBeGreaterThan(40)
})

/** A part of the document with its references replaced by what they name; those to `except` stay. */
function resolved(part: unknown, except = ''): unknown {
  if (Array.isArray(part)) return part.map(entry => resolved(entry, except))
  if (typeof part !== 'object' || part === null) return part
  const { $ref } = part as { $ref?: string }
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value, except)]))
  const [, , kind, name] = $ref.split('/') as [string, string, string, string]
  if (kind === except) return part
  const components = (document as unknown as { components: Record<string, Record<string, unknown>> })
    .components
  return resolved(components[kind]?.[name], except)
}
