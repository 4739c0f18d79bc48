import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ApiKey } from '@tally/access'
import type { EventId } from '@tally/contract'
import type { EventVersion, ShardHash } from '@tally/read-models'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answerDirectly } from './http/directAnswers.ts'
import type { Grant } from './permit.ts'
import { type Begun, openPolling, type Polling } from './polling.ts'

const url = '/api/v1/events/e/analytics/kpis'
const eventId = 'e' as EventId
const key = {
  keyId: 'k',
  organizationId: 'o',
  eventId: null,
  scopes: ['analytics:read'],
} as unknown as ApiKey
const answer = {
  data: '{"data":"Frittò"'.replace('ò', '\u00c3\u00b2'),
  etag: 'W/"figures"',
  eventId,
  asOfMs: 1_000,
  dayId: 3,
  holdsFor: { revision: 7, shard: 1 },
}

const grant: Grant = { granted: true, limit: 60, remaining: 5, resetMs: 2_100 }

/** What the parts around polling say in a test, and what they were asked. */
let says: { key: ApiKey | undefined; grant: Grant | Promise<Grant>; revision: number | undefined }
let asked: { taken: number; used: string[]; answered: unknown[]; confirmed: number }
let polling: Polling

const server = createServer((request, response) => {
  void Promise.resolve(direct.waited(request)?.grant).then(grant =>
    response.end(JSON.stringify({ grant: grant ?? 'not taken' })),
  )
})
const direct = answerDirectly<Begun>(
  { server, fixedHeaders: ['Cache-Control', 'private, no-cache'] },
  (...asked) => polling.answer(...asked),
)
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

beforeEach(() => {
  says = { key, grant, revision: 7 }
  asked = { taken: 0, used: [], answered: [], confirmed: 0 }
  polling = openPolling({
    authenticator: {
      recall: token => (token === 'right' ? says.key : undefined),
      used: keyId => asked.used.push(keyId),
    },
    limiter: { grant: () => says.grant },
    batches: {
      poll: (_poll, onPolled) =>
        setImmediate(() => onPolled(asked.taken++, null, {} as ShardHash, {} as EventVersion)),
    },
    views: {
      confirm: () => (says.revision === undefined ? undefined : { revision: says.revision, asOfMs: 2_000 }),
    },
    cors: undefined,
    onAnswered: (name, { apiKey }, status) => asked.answered.push([name, apiKey?.keyId, status]),
    onConfirmed: () => asked.confirmed++,
  })
  polling.keep({ url, method: 'GET' } as IncomingMessage, 'getKpis', key, answer)
})

/** Polls on a connection of its own, whose first request is Node's. */
async function poll({
  path = url,
  method = 'GET',
  headers = {} as Record<string, string>,
  token = 'right',
} = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await send(agent, '/first', {})
  const reply = await send(agent, path, { method, headers: { 'X-Api-Key': token, ...headers } })
  agent.destroy()
  return reply
}

async function send(agent: Agent, path: string, options: RequestOptions) {
  const { port } = server.address() as AddressInfo
  const outgoing = request({ agent, host: '127.0.0.1', port, path, ...options }).end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = await text(incoming)
  return {
    status: incoming.statusCode,
    headers: incoming.headers,
    body: body === '' ? undefined : JSON.parse(body),
  }
}
const leftToFastify = { status: 200, body: { grant: 'not taken' } }

test('an answer whose event has not changed goes out again, with the new watermark and the rate limit', async () => {
  const { status, headers, body } = await poll()
  expect(status).toBe(200)
  expect(body).toEqual({
    data: 'Frittò',
    meta: { generatedAt: expect.any(String), eventId: 'e', dayId: 3, asOf: '1970-01-01T00:00:02Z' },
  })
  expect(headers).toMatchObject({
    etag: 'W/"figures"',
    'tally-as-of': '1970-01-01T00:00:02Z',
    'cache-control': 'private, no-cache',
    'content-type': 'application/json; charset=utf-8',
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '5',
    'x-ratelimit-reset': '3',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(asked).toEqual({ taken: 1, used: ['k'], answered: [['getKpis', 'k', 200]], confirmed: 1 })
})

test('a client that has the answer gets 304', async () => {
  expect(await poll({ headers: { 'If-None-Match': answer.etag } })).toMatchObject({
    status: 304,
    body: undefined,
  })
  expect(asked.answered).toEqual([['getKpis', 'k', 304]])
})

test('a changed event, a refused or an unjudged request is left to fastify with its grant, which is taken once', async () => {
  const refused = { granted: false, limit: 60, remaining: 0, resetMs: 900 }
  for (const said of [
    { revision: 8 },
    { revision: undefined },
    { grant: refused },
    { grant: Promise.resolve(refused) },
  ]) {
    says = { key, grant, revision: 7, ...said }
    expect((await poll()).body).toEqual({ grant: JSON.parse(JSON.stringify(await says.grant)) })
  }
  expect(asked).toMatchObject({ taken: 4, answered: [], confirmed: 0 })
})

test('whatever is not as before is left to fastify, and nothing is taken', async () => {
  expect(await poll({ path: `${url}?dayId=1` })).toMatchObject(leftToFastify)
  expect(await poll({ method: 'POST' })).toMatchObject(leftToFastify)
  expect(await poll({ token: 'wrong' })).toMatchObject(leftToFastify)
  for (const other of [{ organizationId: 'p' }, { eventId: 'f' }, { scopes: ['orders:read'] }]) {
    says.key = { ...key, ...other } as ApiKey
    expect(await poll()).toMatchObject(leftToFastify)
  }
  expect(asked).toMatchObject({ taken: 0, used: [] })
})
