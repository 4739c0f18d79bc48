import { endpoints, problem } from '@tally/contract'
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

test('the OpenAPI document needs no token and describes all nine endpoints', async () => {
  const { status, headers, body } = await tally.get('/api/v1/openapi.json')
  expect(status).toBe(200)
  expect(headers['content-type']).toContain('application/json')
  expect(body.openapi).toMatch(/^3\.1\./)
  expect(body.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
  const paths = Object.values(endpoints).map(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}'))
  expect(Object.keys(body.paths).toSorted()).toEqual(paths.toSorted())
  for (const [path, item] of Object.entries<
    Record<string, { responses: object; parameters?: { in: string; name: string; required?: boolean }[] }>
  >(body.paths)) {
    expect(Object.keys(item)).toEqual(['get'])
    const { responses = {}, parameters = [] } = item.get ?? {}
    for (const wanted of ['200', '401', '403', '404', '429'].filter(
      code => code !== '404' || path.includes('{'),
    ))
      expect(Object.keys(responses)).toContain(wanted)
    const inPath = parameters.filter(parameter => parameter.in === 'path')
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    expect(inPath.every(({ required }) => required === true)).toBe(true)
  }
})

test('every reference inside the OpenAPI document leads somewhere inside it', async () => {
  const { body } = await tally.get('/api/v1/openapi.json')
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) =>
    String(reference),
  )
  expect(references.length).toBeGreaterThan(5)
  for (const reference of references) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce((at: Record<string, unknown> | undefined, step) => at?.[step] as Record<string, unknown>, body)
    expect({ reference, found: typeof found }).toEqual({ reference, found: 'object' })
  }
})

test('the reference page works without any other host', async () => {
  const page = await followed('/docs')
  const assets = new Set<string>()
  const take = (from: string, text: string) => {
    for (const [, url = ''] of text.matchAll(/(?:src|href)=["']([^"']+)["']/g)) {
      expect(url).not.toMatch(/^(https?:)?\/\//)
      if (!url.startsWith('data:') && !url.startsWith('#'))
        assets.add(new URL(url, `http://docs${from}`).pathname)
    }
  }
  take(page.path, page.reply.text)
  expect(assets.size).toBeGreaterThan(2)
  for (const path of assets)
    expect({ path, status: (await tally.get(path)).status }).toEqual({ path, status: 200 })
  const policy = String(page.reply.headers['content-security-policy'])
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/https?:/)
})

test('the reference page has the name, the logo and the icon of Tally', async () => {
  const { reply } = await followed('/docs')
  expect(reply.text).toContain('<title>Tally API</title>')
  const icons = [...reply.text.matchAll(/<link rel="icon"[^>]*href="([^"]+)"/g)].map(([, url]) => String(url))
  expect(icons).toHaveLength(1)
  const { headers, text } = await tally.get(new URL(icons[0] as string, 'http://docs/docs').pathname)
  expect(headers['content-type']).toBe('image/svg+xml')
  expect(text).toContain('<title>Tally</title>')
  const script = await tally.get('/docs/static/swagger-initializer.js')
  const [, logo = ''] = /data:image\/svg\+xml;base64,([\w+/=]+)/.exec(script.text) ?? []
  expect(Buffer.from(logo, 'base64').toString()).toContain('<title>Tally API</title>')
})

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

/** Follows redirects within the service. */
async function followed(path: string): Promise<{ path: string; reply: Reply }> {
  const reply = await tally.get(path)
  const { location } = reply.headers
  if (location !== undefined) return followed(new URL(location, `http://docs${path}`).pathname)
  expect(reply.status).toBe(200)
  return { path, reply }
}
