import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { registerReference } from './reference.ts'
import { buildReferencePage } from './referencePage.ts'

vi.mock('./referencePage.ts', async original => {
  const { buildReferencePage } = await original<typeof import('./referencePage.ts')>()
  return { buildReferencePage: vi.fn(buildReferencePage) }
})

let app: FastifyInstance
beforeEach(() => {
  vi.mocked(buildReferencePage).mockClear()
  app = fastify()
  app.setNotFoundHandler((_, reply) => reply.code(404).send('of the API'))
  registerReference(app, undefined)
})
afterEach(() => app.close())

const style = '/docs/static/swagger-ui.css'

test('the reference page is made when it is first asked for, and once', async () => {
  expect((await app.inject('/api/v1/openapi.json')).json().openapi).toBe('3.1.1')
  expect(buildReferencePage).not.toHaveBeenCalled()
  const pages = await Promise.all(['/docs', style, '/docs/static/logo.svg'].map(url => app.inject(url)))
  expect(pages.map(({ statusCode, headers }) => [statusCode, headers['content-type']])).toEqual([
    [200, 'text/html; charset=utf-8'],
    [200, 'text/css; charset=utf-8'],
    [200, 'image/svg+xml'],
  ])
  expect(buildReferencePage).toHaveBeenCalledTimes(1)
})

test('a page of the reference that does not exist is a 404 of the API', async () => {
  const { statusCode, body } = await app.inject('/docs/static/none.js')
  expect([statusCode, body]).toEqual([404, 'of the API'])
})

test('HEAD has the length of the page and no body, and a file that has not changed is a 304', async () => {
  const { headers, rawPayload } = await app.inject(style)
  const head = await app.inject({ method: 'HEAD', url: style })
  expect([head.headers['content-length'], head.body]).toEqual([String(rawPayload.length), ''])
  const again = await app.inject({ url: style, headers: { 'if-none-match': String(headers.etag) } })
  expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', headers.etag])
})
