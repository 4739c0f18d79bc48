import type { EventId, OrganizationId } from '@tally/contract'
import { beforeEach, expect, test, vi } from 'vitest'
import { type EventViewsParts, openEventViews } from './eventViews.ts'
import type { Read } from './fromRedis.ts'
import type { Question } from './question.ts'

/** The two sources: what they have is up to the test. */
const sources = vi.hoisted(() => ({
  redis: async (): Promise<unknown> => 'missing',
  postgres: async (): Promise<unknown> => undefined,
  isRedisUp: true,
}))
vi.mock('./fromRedis.ts', () => ({ openRedisSource: () => () => sources.redis() }))
vi.mock('./fromPostgres.ts', () => ({ openPostgresSource: () => () => sources.postgres() }))

const of = { eventId: 'e' as EventId, organizationId: 'o' as OrganizationId }
const read = (revision: number, asOfMs: number, shard = 1) =>
  ({
    head: { eventId: 'e', revision, event: { ...of, shard, menuItems: [], days: [], areas: [] } },
    documents: new Map([['kpis:1:0', `revision ${revision}`]]),
    asOfMs,
  }) as unknown as Read
const question: Question = () => ({
  key: 'k',
  needs: ['kpis:1:0'],
  compose: documents => ({ data: Buffer.from(documents.get('kpis:1:0') ?? ''), etag: '' }),
})

function open() {
  const attempt = async <Result>(call: () => Promise<Result>) =>
    sources.isRedisUp ? call() : Promise.resolve(undefined)
  const parts = {
    breaker: { attempt },
    topics: [],
    onSource() {},
    onFailure() {},
    listedEvents: async () => undefined,
  }
  const views = openEventViews(parts as unknown as EventViewsParts)
  return async () => {
    const answered = await views.ask(of, question)
    return [answered?.composed.data.toString(), answered?.asOfMs]
  }
}

beforeEach(() => {
  sources.isRedisUp = true
})

test('a slow answer of Postgres is not given the moment of a later one', async () => {
  const ask = open()
  const slow = Promise.withResolvers<Read>()
  sources.postgres = () => slow.promise
  sources.isRedisUp = false
  const asked = ask()
  await new Promise(setImmediate)
  sources.isRedisUp = true
  sources.redis = async () => read(11, 2_000)
  expect(await ask()).toEqual(['revision 11', 2_000])
  slow.resolve(read(10, 1_000))
  expect(await asked).toEqual(['revision 10', 1_000])
})

test('an event that moved to a shard further behind is answered from Redis, and its moment does not go back', async () => {
  const ask = open()
  sources.postgres = () => Promise.reject(new Error('Postgres is down'))
  sources.redis = async () => read(10, 2_000)
  await ask()
  sources.redis = async () => read(11, 1_500, 7)
  for (let i = 0; i < 3; i++) expect(await ask()).toEqual(['revision 11', 2_000])
})
