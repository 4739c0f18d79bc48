import type { EventId, OrganizationId } from '@tally/contract'
import type { ShardHash } from '@tally/publication'
import type { Read, RedisRead } from '@tally/views'
import { beforeEach, expect, test, vi } from 'vitest'
import { allowanceOf } from '../limits/limitDecision.ts'
import { createGate, Overloaded } from '../postgres/gate.ts'
import { createSharedReads } from '../postgres/sharedReads.ts'
import { createEventViews, type EventViewsDeps } from './eventViews.ts'
import type { Question } from './question.ts'

/** The two sources, with what each test puts into them. */
const { sources, healthy } = vi.hoisted(() => {
  const healthy = {
    askedPostgres: 0,
    relied: 0,
    isRedisUp: true,
    refusesWrites: false,
    isStale: false,
    isPostgresUp: true,
  }
  const answers = {
    redis: async (): Promise<unknown> => 'missing',
    postgres: async (): Promise<unknown> => undefined,
  }
  return { healthy, sources: { ...answers, ...healthy } }
})
vi.mock('@tally/views', async original => ({
  ...(await original<typeof import('@tally/views')>()),
  createRedisReads: () => () => sources.redis(),
  readFromPostgres: () => {
    sources.askedPostgres += 1
    return sources.postgres()
  },
}))
vi.mock('./repairs.ts', () => ({ createRepairs: () => () => {}, requireEpoch: () => undefined }))

const asked = { eventId: 'e' as EventId, organizationId: 'o' as OrganizationId }
const read = (revision: number, asOfMs: number, shard = 1) =>
  ({
    head: { eventId: 'e', revision, event: { ...asked, shard, menuItems: [], days: [], areas: [] } },
    documents: new Map([['kpis:1:0', `revision ${revision}`]]),
    asOfMs,
    epochs: { documents: 1, asOf: 1 },
  }) as unknown as Read
const question: Question = () => ({
  key: 'k',
  needs: ['kpis:1:0'],
  compose: documents => ({ text: documents.get('kpis:1:0') ?? '', etag: '' }),
})
const allowed = Promise.resolve()

function open() {
  const attempt = async <Result>(call: () => Promise<Result>) =>
    sources.isRedisUp ? call().catch(() => undefined) : Promise.resolve(undefined)
  const deps = {
    breaker: {
      attempt,
      forceClosed() {
        sources.relied += 1
      },
      get refusesWrites() {
        return sources.refusesWrites
      },
    },
    shared: createSharedReads(createGate({ places: 2, placesOfOne: 2, waitingOfOne: 10, waitMs: 1_000 })),
    watermarks: {
      isStale: () => sources.isStale,
      isFuture: () => false,
      isPostgresUp: () => sources.isPostgresUp,
    },
    topics: [],
    onSource() {},
    onFailure() {},
    listedEvents: async () => undefined,
  }
  const views = createEventViews(deps as unknown as EventViewsDeps)
  return {
    views,
    async ask(allowance = allowed) {
      const answered = await views.ask(asked, question, allowance)
      return answered && [answered.composed.text, answered.asOfMs]
    },
  }
}
const redisHas = (hot: RedisRead) => {
  sources.redis = async () => hot
}
const postgresHas = (cold: Read | undefined) => {
  sources.postgres = async () => cold
}
const postgresIsDown = () => {
  sources.postgres = () => Promise.reject(new Error('Connection terminated'))
}

beforeEach(() => {
  Object.assign(sources, healthy)
  postgresHas(undefined)
})

test('if Redis did not answer the batch of a request, it is not asked again', async () => {
  const redis = vi.fn(async () => read(1, 1_000))
  Object.assign(sources, { redis, postgres: async () => read(2, 2_000) })
  const answered = await open().views.ask(asked, question, allowed, null)
  expect(answered?.composed.text).toBe('revision 2')
  expect(redis).not.toHaveBeenCalled()
})

test('a slow answer of Postgres does not get the watermark of a later one', async () => {
  const { ask } = open()
  const slow = Promise.withResolvers<Read>()
  sources.postgres = () => slow.promise
  sources.isRedisUp = false
  const asked = ask()
  await new Promise(setImmediate)
  sources.isRedisUp = true
  redisHas(read(11, 2_000))
  expect(await ask()).toEqual(['revision 11', 2_000])
  slow.resolve(read(10, 1_000))
  expect(await asked).toEqual(['revision 10', 1_000])
})

test('after lost commits Postgres answers with its own watermark, and then Redis may answer with the same one', async () => {
  const { ask } = open()
  redisHas(read(20, 2_000))
  expect(await ask()).toEqual(['revision 20', 2_000])
  redisHas('old')
  postgresHas(read(10, 1_000))
  expect(await ask()).toEqual(['revision 10', 1_000])
  redisHas(read(10, 1_000))
  expect(await ask()).toEqual(['revision 10', 1_000])
  expect(sources.askedPostgres).toBe(1)
})

test.each([
  ['revision', read(9, 2_000)],
  ['watermark in a later epoch', { ...read(10, 1_999), epochs: { documents: 2, asOf: 2 } }],
])('Redis with an older %s than was answered before is not used while Postgres answers', async (_, old) => {
  const { ask } = open()
  redisHas(read(10, 2_000))
  await ask()
  redisHas(old)
  postgresHas(read(11, 2_500))
  expect(await ask()).toEqual(['revision 11', 2_500])
  postgresIsDown()
  expect((await ask())?.[1]).toBe(old.asOfMs)
})

test('documents as new as before keep the watermark that was answered, even if that of Redis went back', async () => {
  const { ask } = open()
  redisHas(read(10, 2_000))
  await ask()
  redisHas(read(11, 1_500))
  expect(await ask()).toEqual(['revision 11', 2_000])
  redisHas(read(11, 2_500))
  expect(await ask()).toEqual(['revision 11', 2_500])
  expect(sources.askedPostgres).toBe(0)
})

test('an answer is confirmed by its event’s shard alone', async () => {
  const { ask, views } = open()
  redisHas(read(10, 2_000))
  await ask()
  const hash: ShardHash = { asOfMs: 9_000, epoch: 1, revisions: new Map() }
  const version = { revision: 10, epoch: 1 }
  expect(views.confirm({ ...asked }, { shard: 2, hash, version })).toBeUndefined()
  expect(await ask()).toEqual(['revision 10', 2_000])
  expect(views.confirm({ ...asked }, { shard: 1, hash, version })).toEqual({ revision: 10, asOfMs: 9_000 })
})

test('documents that do not fit their watermark are never answered: without Postgres that is a 503', async () => {
  const { ask } = open()
  redisHas('old')
  postgresHas(read(11, 2_500))
  expect(await ask()).toEqual(['revision 11', 2_500])
  postgresIsDown()
  await expect(ask()).rejects.toThrow('Service unavailable')
})

test.each([
  ['refuses writes', 'refusesWrites'],
  ['is no longer updated', 'isStale'],
] as const)('while Redis %s Postgres answers, and Redis only if Postgres is down', async (_, fault) => {
  sources[fault] = true
  const { ask } = open()
  redisHas(read(10, 1_000))
  postgresHas(read(11, 5_000))
  expect(await ask()).toEqual(['revision 11', 5_000])
  postgresIsDown()
  expect(await ask()).toEqual(['revision 10', 1_000])
})

test('a refused request asks Postgres nothing and leaves nothing in memory', async () => {
  const { ask } = open()
  const refused = allowanceOf(Promise.resolve({ allowed: false, limit: 2, remaining: 0, resetMs: 1 }))
  redisHas('missing')
  await expect(ask(refused)).rejects.toThrow()
  redisHas(read(10, 1_000))
  await expect(ask(refused)).rejects.toThrow()
  expect(sources.askedPostgres).toBe(0)
  // Anything remembered would reject what Redis has.
  redisHas(read(9, 900))
  expect(await ask()).toEqual(['revision 9', 900])
})

test('requests that arrive while one waits for Postgres share the next read, and none gets a read that began before', async () => {
  const { ask } = open()
  sources.isRedisUp = false
  const reads: PromiseWithResolvers<Read>[] = []
  sources.postgres = () => {
    const next = Promise.withResolvers<Read>()
    reads.push(next)
    return next.promise
  }
  const first = ask()
  await vi.waitFor(() => expect(reads).toHaveLength(1))
  const others = Array.from({ length: 50 }, () => ask())
  await new Promise(setImmediate)
  expect(reads).toHaveLength(1)
  reads[0]?.resolve(read(10, 1_000))
  expect(await first).toEqual(['revision 10', 1_000])
  await vi.waitFor(() => expect(reads).toHaveLength(2))
  reads[1]?.resolve(read(11, 1_100))
  expect(new Set((await Promise.all(others)).map(String))).toEqual(new Set(['revision 11,1100']))
  expect(reads).toHaveLength(2)
})

test('an unknown event costs Postgres one query per 0.8 s, and is found once it exists', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { ask } = open()
    redisHas('missing')
    for (let i = 0; i < 5; i++) expect(await ask()).toBeUndefined()
    expect(sources.askedPostgres).toBe(1)
    postgresHas(read(1, 500))
    expect(await ask()).toBeUndefined()
    vi.advanceTimersByTime(800)
    expect(await ask()).toEqual(['revision 1', 500])
  } finally {
    vi.useRealTimers()
  }
})

test('a late answer of Postgres that lacks an event does not make it unknown once Redis has answered', async () => {
  const { ask } = open()
  const late = Promise.withResolvers<undefined>()
  redisHas('missing')
  sources.postgres = () => late.promise
  const asked = ask()
  await new Promise(setImmediate)
  redisHas(read(1, 1_000))
  expect(await ask()).toEqual(['revision 1', 1_000])
  late.resolve(undefined)
  expect(await asked).toBeUndefined()
  expect(await ask()).toEqual(['revision 1', 1_000])
})

test('while Postgres hangs Redis answers at once with consistent documents, even if they are old', async () => {
  const { ask } = open()
  redisHas(read(10, 2_000))
  await ask()
  redisHas(read(9, 1_000))
  sources.postgres = () => new Promise(() => {})
  sources.isPostgresUp = false
  expect(await ask()).toEqual(['revision 9', 1_000])
})

test('a Redis that was too slow once is asked again if Postgres is down', async () => {
  const { ask } = open()
  let asked = 0
  sources.redis = () =>
    ++asked === 1 ? Promise.reject(new Error('too slow')) : Promise.resolve(read(10, 2_000))
  postgresIsDown()
  expect(await ask()).toEqual(['revision 10', 2_000])
})

test('a Redis that was briefly too slow answers while Postgres takes long or is overloaded', async () => {
  const { ask } = open()
  sources.isRedisUp = false
  sources.postgres = () => new Promise(() => {})
  const asked = ask()
  await vi.waitFor(() => expect(sources.askedPostgres).toBe(1))
  redisHas('old')
  sources.isRedisUp = true
  await new Promise(setImmediate)
  redisHas(read(10, 2_000))
  expect(await asked).toEqual(['revision 10', 2_000])
  expect(sources.relied).toBe(0)
})

test('while Postgres is only busy or a read has a defect, no request goes back to a hanging Redis', async () => {
  sources.isRedisUp = false
  for (const [error, problem] of [
    [new Overloaded(), 'Service unavailable'],
    [new RangeError('a defect'), 'a defect'],
  ] as const) {
    sources.postgres = () => Promise.reject(error)
    await expect(open().ask()).rejects.toThrow(problem)
  }
  expect(sources.relied).toBe(0)
  sources.isPostgresUp = false
  await expect(open().ask()).rejects.toThrow('a defect')
  postgresIsDown()
  await expect(open().ask()).rejects.toThrow()
  expect(sources.relied).toBe(2)
})
