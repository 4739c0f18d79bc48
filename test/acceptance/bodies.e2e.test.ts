import { Agent, METHODS, request } from 'node:http'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test } from 'vitest'

const tally = useSharedTally()
const festival = newFestival()
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  token = await tally.key(festival.organizationId)
})

/** Asks to keep the connection. */
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

type Sent = { path?: string; method: string; type?: string; data?: string; token?: string }

/** Sends a request with a body, whatever the method. */
function send({ path = '/api/v1/events', method, type, data = '', token }: Sent) {
  const { hostname, port } = new URL(tally.queries[0]?.address ?? '')
  const headers = {
    ...(type && { 'Content-Type': type }),
    ...(token && { 'X-Api-Key': token }),
    'Content-Length': Buffer.byteLength(data),
  }
  const { promise, resolve, reject } = Promise.withResolvers<{
    status?: number | undefined
    type?: string
    allow?: string
    connection?: string | undefined
  }>()
  request({ hostname, port, path, method, headers, agent }, response => {
    const { 'content-type': answered, allow, connection } = response.headers
    response
      .resume()
      .on('end', () =>
        resolve({ status: response.statusCode, type: answered ?? '', allow: allow ?? '', connection }),
      )
  })
    .on('error', reject)
    .end(data)
  return promise
}

test.for<Sent>([
  { method: 'POST', type: 'application/json', data: '{' },
  { method: 'POST', type: 'application/json', data: '' },
  { method: 'POST', type: 'application/xml', data: '<a/>' },
  { method: 'POST', type: 'text/plain', data: 'x'.repeat(5_000) },
  { method: 'PUT', type: 'application/json', data: JSON.stringify('x'.repeat(5_000)) },
  { method: 'PATCH', type: 'bogus', data: 'x' },
  { method: 'DELETE', type: 'application/json', data: '{' },
])('whatever the body, another method than GET or HEAD is a 405: $method of $type', async sent => {
  expect(await send(sent)).toMatchObject({
    status: 405,
    type: 'application/problem+json',
    allow: 'GET, HEAD',
  })
})

test('whatever the body, an unknown path is a 404', async () => {
  const { status } = await send({
    path: '/api/v1/nowhere',
    method: 'POST',
    type: 'application/json',
    data: '{',
  })
  expect(status).toBe(404)
})

test('every method that Node can send but GET and HEAD is a 405', async () => {
  const methods = METHODS.filter(method => !['GET', 'HEAD', 'CONNECT'].includes(method))
  const answers = await Promise.all(methods.map(async method => [method, (await send({ method })).status]))
  expect(answers).toEqual(methods.map(method => [method, 405]))
})

test('a body that comes with a GET is not looked at, and its connection is not kept', async () => {
  expect(await send({ method: 'GET', type: 'application/json', data: '{', token })).toMatchObject({
    status: 200,
    connection: 'close',
  })
})
