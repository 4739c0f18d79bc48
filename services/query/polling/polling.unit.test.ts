import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ApiKey, KnownKey } from '@tally/access'
import type { EventId } from '@tally/contract'
import type { EventVersion, ShardHash } from '@tally/publication'
import type { Seen } from '@tally/views'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Answer } from '../http/answer.ts'
import type { LimitDecision } from '../limits/limitDecision.ts'
import { answerDirectly } from './directAnswers.ts'
import { createPolling, type Fallback, type Polling } from './polling.ts'

const url = '/api/v1/events/e/analytics/kpis'
const eventId = 'e' as EventId
const key = {
  keyId: 'k',
  organizationId: 'o',
  eventId: null,
  scopes: ['analytics:read'],
} as unknown as ApiKey
const answer = {
  text: '{"data":"Frittò"'.replace('ò', '\u00c3\u00b2'),
  etag: 'W/"figures"',
  eventId,
  asOfMs: 1_000,
  dayId: 3,
  holdsFor: { revision: 7, shard: 1 },
}

const known = (key: ApiKey) => ({ stored: { key } }) as KnownKey

const decision: LimitDecision = { allowed: true, limit: 60, remaining: 5, resetMs: 2_100 }

/** What the parts around polling say in a test, and what they were asked. */
let says: {
  key: ApiKey | undefined
  decision: LimitDecision | Promise<LimitDecision>
  revision: number | undefined
  isInUse: boolean
  /** Whether the organization takes its answers. */
  hasRoom: boolean
  /** What the batch has read. */
  hash: ShardHash | undefined
  version: EventVersion | undefined
  /** What the question's next read finds. */
  read: () => Promise<Answer>
}
let asked: {
  taken: number
  recalled: string[]
  used: string[]
  answered: unknown[]
  confirmed: number
  seen: Seen[]
}
let polling: Polling

const server = createServer((request, response) => {
  const { decision, isUnread, reading } = direct.waited(request) ?? {}
  void Promise.all([decision, reading?.catch(error => error.message)]).then(([decision, failed]) =>
    response.end(JSON.stringify({ decision: decision ?? 'not taken', isUnread, failed })),
  )
})
const direct = answerDirectly<Fallback>(server, (...asked) => polling.answer(...asked))
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

beforeEach(() => {
  const hash = {} as ShardHash
  says = {
    key,
    decision,
    revision: 7,
    isInUse: true,
    hasRoom: true,
    hash,
    version: {} as EventVersion,
    read: async () => answer,
  }
  asked = { taken: 0, recalled: [], used: [], answered: [], confirmed: 0, seen: [] }
  polling = createPolling({
    authenticator: {
      recall(token) {
        asked.recalled.push(token)
        return token !== 'wrong' && says.key ? known(says.key) : undefined
      },
      used: keyId => asked.used.push(keyId),
      isInUse: () => says.isInUse,
    },
    limiter: { decision: () => says.decision },
    batches: {
      pollOf: about => about as never,
      poll: (_poll, onPolled) => setImmediate(() => onPolled({ ...says, index: asked.taken++, taken: null })),
    },
    views: {
      confirm: () => (says.revision === undefined ? undefined : { revision: says.revision, asOfMs: 2_000 }),
    },
    cors: undefined,
    unread: { reserve: () => says.hasRoom },
    onAnswered: (name, { apiKey }, status) => asked.answered.push([name, apiKey?.keyId, status]),
    onSource: () => asked.confirmed++,
  })
  polling.keep({ url, method: 'GET' } as IncomingMessage, {
    name: 'getKpis',
    organizationId: key.organizationId,
    answer,
    read(_key, _permit, seen) {
      asked.seen.push(seen)
      return says.read()
    },
  })
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
const leftToFastify = { status: 200, body: { decision: 'not taken' } }

test('an answer whose event has not changed goes out again, with the new watermark and the rate limit, or as 304', async () => {
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
  const answered = [['getKpis', 'k', 200]]
  expect(asked).toEqual({ taken: 1, recalled: ['right'], used: ['k'], answered, confirmed: 1, seen: [] })
  const again = await poll({ headers: { 'If-None-Match': answer.etag } })
  expect(again).toMatchObject({ status: 304, body: undefined })
  expect(asked.answered[1]).toEqual(['getKpis', 'k', 304])
})

test('an organization that leaves too much unread gets its answer, or a problem, from fastify', async () => {
  says = { ...says, hasRoom: false, revision: 8 }
  says.read = async () => ({ ...later, text: `{"data":"${'x'.repeat(16 * 1_024)}"` })
  expect(await poll()).toMatchObject({ status: 200, body: { decision: { allowed: true }, isUnread: false } })
})

test('a device that asks again is recalled only once its key is not known to be in use, another one by its token', async () => {
  for (const token of ['right', 'right', 'other', 'right'])
    expect(await poll({ token })).toMatchObject({ status: 200 })
  expect(asked).toMatchObject({ recalled: ['right', 'other', 'right'], used: ['k', 'k', 'k'] })
  says.isInUse = false
  expect(await poll()).toMatchObject({ status: 200 })
  expect(asked).toMatchObject({ recalled: { length: 4 }, used: { length: 4 } })
})

const later = { ...answer, text: '{"data":2', etag: 'W/"later"', holdsFor: { revision: 8, shard: 1 } }

test('a changed event is read again, with what the batch has read, and its answer is kept', async () => {
  says.revision = 8
  says.read = async () => later
  expect(await poll()).toMatchObject({ status: 200, body: { data: 2 }, headers: { etag: later.etag } })
  expect(asked.seen).toEqual([{ shard: 1, hash: says.hash, version: says.version }])
  expect(await poll({ headers: { 'If-None-Match': later.etag } })).toMatchObject({ status: 304 })
  expect(asked).toMatchObject({ taken: 2, confirmed: 1, seen: { length: 1 } })
})

test('polls of one batch share a read, those of the next read again', async () => {
  says.revision = 8
  const reading = Promise.withResolvers<typeof later>()
  says.read = () => reading.promise
  const two = Promise.all([poll(), poll()])
  await expect.poll(() => asked.taken).toBe(2)
  says.hash = { ...says.hash } as ShardHash
  const third = poll()
  await expect.poll(() => asked.taken).toBe(3)
  expect(asked.seen).toHaveLength(2)
  reading.resolve(later)
  for (const { body } of [...(await two), await third]) expect(body).toMatchObject({ data: 2 })
})

test('a read that fails is left to fastify, which gets the failure and does not read again', async () => {
  says.revision = undefined
  says.read = () => Promise.reject(new Error('no such event'))
  expect((await poll()).body).toEqual({ decision, isUnread: false, failed: 'no such event' })
  expect(asked).toMatchObject({ taken: 1, answered: [], confirmed: 0 })
})

test('an answer that cannot be composed is left to fastify, and the next one is sent', async () => {
  says.revision = 8
  says.read = async () => ({ ...later, asOfMs: 9e15 })
  expect((await poll()).body).toEqual({ decision, isUnread: false })
  says.read = async () => later
  says.hash = { ...says.hash } as ShardHash
  expect(await poll()).toMatchObject({ status: 200 })
})

test('a refused or an unjudged request, or one of which nothing was read, is left to fastify with its decision', async () => {
  const refused = { allowed: false, limit: 60, remaining: 0, resetMs: 900 }
  const { hash } = says
  for (const { isUnread = false, ...said } of [
    { revision: undefined, hash: undefined, isUnread: true },
    { revision: undefined, version: undefined },
    { decision: refused },
    { decision: Promise.resolve(refused) },
    { decision: Promise.resolve(refused), hash: undefined, isUnread: true },
  ]) {
    says = { ...says, decision, hash, ...said }
    expect((await poll()).body).toEqual({
      decision: JSON.parse(JSON.stringify(await says.decision)),
      isUnread,
    })
  }
  expect(asked).toMatchObject({ taken: 5, answered: [], confirmed: 0, seen: [] })
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
