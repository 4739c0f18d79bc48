import { hash } from 'node:crypto'
import { openApiDocument, problem } from '@tally/contract'
import type { Reply } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useTally({ settings: { RATE_LIMITS: 'ActiveDayPass=4' } })
const festival = newFestival()
const ownId = 'an-id-that-came-in'
let replies: Reply[]

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  const token = await tally.key(festival.organizationId, { scopes: ['events:read'] })
  const headers = { 'X-Request-Id': ownId, 'Request-Id': ownId }
  const asks = [
    ['/api/v1/events', { token }],
    [`${festival.path}/orders`, { token }],
    ['/api/v1/events/x?q=1', { token }],
    [newFestival().path, { token }],
    ['/api/v1/events', { token }],
    ['/api/v1/events', {}],
    ['/nowhere?q=1', {}],
    ['/api/v1/events', { method: 'POST' }],
    ['/%', {}],
  ] as const
  replies = []
  for (const [path, ask] of asks) replies.push(await tally.get(path, { ...ask, headers }))
  expect(replies.map(({ status }) => status)).toEqual([200, 403, 400, 404, 429, 401, 404, 405, 400])
})

test("every answer has a request id of its own; the client's is ignored", () => {
  const ids = replies.map(({ headers }) => String(headers['x-request-id']))
  expect(new Set(ids).size).toBe(replies.length)
  for (const id of ids) expect(id).toMatch(/^[\w-]{8,}$/)
  expect(JSON.stringify(replies)).not.toContain(ownId)
})

test('every error is a problem with all its fields, and errors on a 400 only', () => {
  for (const { status, headers, body } of replies.slice(1)) {
    expect(problem.strict().parse(body)).toEqual(body)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(body).toMatchObject({ status, requestId: headers['x-request-id'] })
    expect('errors' in body).toBe(status === 400)
    expect(body.instance).not.toContain('?')
    expect(body.type).toMatch(/^\/problems\/[a-z-]+$/)
  }
})

test('the address in a problem’s type answers a page of help, without a token', async () => {
  for (const { body } of replies.slice(1)) {
    const { status, headers, text } = await tally.get(body.type)
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/html')
    expect(text).toContain(body.title)
  }
  expect((await tally.get('/problems/unknown')).status).toBe(404)
  expect((await tally.get('/problems/constructor')).status).toBe(404)
})

test('the OpenAPI document needs no token, and is that of the contract', async () => {
  const { status, headers, body } = await tally.get('/api/v1/openapi.json')
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
})

test.for(['/docs', '/docs/', '/', '/problems/unauthorized'])(
  '%s loads nothing: all that a browser needs is in the page',
  async path => {
    const { status, headers, text } = await tally.get(path, { headers: { Accept: 'text/html' } })
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toMatch(/<title>[^<]+ - Tally API<\/title>/)
    expect(text).not.toMatch(
      / src=|<link(?! rel="icon" href="data:image\/svg)|(?:href|action)="(?!\/|#|data:)/,
    )
    const hashes = ['style', 'script'].map(name => {
      const [, inner = ''] = text.split(new RegExp(`<${name}>|</${name}>`))
      return `${name}-src 'sha256-${hash('sha256', inner, 'base64')}';`
    })
    expect(headers['content-security-policy']).toContain(`default-src 'none'; ${hashes.join(' ')}`)
  },
)

test('every answer carries the headers that the OpenAPI document names for it, in their types', async () => {
  const { body: document } = await tally.get('/api/v1/openapi.json')
  const found = (part: Record<string, unknown>): Record<string, unknown> => {
    const [, , kind = '', name = ''] = String(part.$ref ?? '').split('/')
    return part.$ref === undefined ? part : document.components[kind][name]
  }
  // Of one operation: the problems are the same of all, and a 200 and a 304 of an event carry Tally-As-Of too.
  const operation = (path: string) => document.paths[path].get.responses
  const other = newFestival()
  await tally.count([other.organization(), other.event()])
  const token = await tally.key(other.organizationId)
  const fresh = await tally.get(other.path, { token })
  const same = await tally.get(other.path, {
    token,
    headers: { 'If-None-Match': String(fresh.headers.etag) },
  })
  expect(same.status).toBe(304)
  const all = [fresh, same].map(reply => ({ reply, of: operation('/api/v1/events/{eventId}') }))
  for (const reply of replies)
    if (reply.status !== 405 && reply.body.instance !== '/nowhere')
      all.push({ reply, of: operation('/api/v1/events') })
  for (const { reply, of } of all) {
    const headers = Object.entries(found(of[reply.status]).headers as Record<string, Record<string, unknown>>)
    const wrong = headers.filter(([name, given]) => {
      const { required = false, schema } = found(given) as { required?: boolean; schema: { type: string } }
      const value = reply.headers[name.toLowerCase()]
      return value === undefined ? required : schema.type === 'integer' && !/^\d+$/.test(String(value))
    })
    expect({ status: reply.status, wrong }).toEqual({ status: reply.status, wrong: [] })
    const named = headers.map(([name]) => name.toLowerCase())
    const ours = /^(etag|cache-control|retry-after|tally-|x-ratelimit-|x-request-id|www-authenticate)/
    expect(Object.keys(reply.headers).filter(name => ours.test(name) && !named.includes(name))).toEqual([])
  }
})

test('what needs no token costs nothing', async () => {
  const other = newFestival()
  await tally.count([other.organization(), other.event()])
  const token = await tally.key(other.organizationId)
  for (const path of ['/api/v1/openapi.json', '/docs', '/problems/not-found', '/nowhere'])
    await tally.get(path, { token })
  expect((await tally.get('/api/v1/events', { token })).headers['x-ratelimit-remaining']).toBe('3')
})
