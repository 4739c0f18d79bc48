import { ask } from '@tally/testkit/processes/http'
import type { TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { type Festival, newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Link, openLink } from '../chaos/system/link.ts'

/** docs/reliability.md, When a part is down: hot questions, while Postgres is down and Redis is slow. */
const tally = useTally({ queries: 0 })
const links = {} as Record<'postgres' | 'redis', Link>
let query: { process: TallyProcess; address: string }

beforeAll(async () => {
  const { DATABASE_URL = '', REDIS_URL = '' } = tally.settings
  for (const [part, url] of Object.entries({ postgres: DATABASE_URL, redis: REDIS_URL }))
    links[part as 'postgres' | 'redis'] = await openLink(Number(new URL(url).port))
})
afterEach(async () => {
  await query.process.end()
  for (const link of Object.values(links)) await link.mend()
})
afterAll(async () => {
  for (const link of Object.values(links)) await link.close()
})

const through = (url: string | undefined, { port }: Link) =>
  Object.assign(new URL(url ?? ''), { hostname: '127.0.0.1', port: String(port) }).href

/** Two festivals that Redis has, of which the query process has answered one before. */
async function twoFestivals() {
  query = await tally.startQuery({
    DATABASE_URL: through(tally.settings.DATABASE_URL, links.postgres),
    REDIS_URL: through(tally.settings.REDIS_URL, links.redis),
  })
  const festivals = [newFestival(), newFestival()] as [Festival, Festival]
  await tally.count(festivals.flatMap(({ organization, event, order }) => [organization(), event(), order()]))
  const tokens: string[] = []
  for (const { organizationId } of festivals) tokens.push(await tally.key(organizationId))
  const paths = ({ path }: Festival) => [
    '/api/v1/events',
    ...['', '/analytics/kpis', '/analytics/orders/by-hour', '/live/item-counts'].map(end => path + end),
  ]
  const get = (index: 0 | 1) =>
    Promise.all(
      paths(festivals[index]).map(async path => {
        const began = performance.now()
        const { status } = await ask(query.address, path, { token: tokens[index] })
        return { path, status, tookMs: performance.now() - began }
      }),
    )
  await until('Redis answers in time', async () => (await get(0)).every(({ status }) => status === 200))
  return { get }
}

function expectAnswered(replies: { path: string; status: number; tookMs: number }[]) {
  console.info(`took ${replies.map(({ tookMs }) => Math.round(tookMs)).join(' ')} ms`)
  expect(replies.filter(({ status }) => status !== 200)).toEqual([])
  // The time-outs of a Postgres that hangs are longer.
  expect(Math.max(...replies.map(({ tookMs }) => tookMs))).toBeLessThan(5_000)
}

test.each(['cut', 'stall'] as const)(
  'Postgres down (%s): hot questions are answered by a Redis that takes 200 ms, or 400 ms',
  async down => {
    const { get } = await twoFestivals()
    for (const ms of [200, 400]) {
      await links.redis.slow(ms / 2)
      await links.postgres[down]()
      expectAnswered(await get(0))
      expectAnswered(await get(1))
      expectAnswered((await Promise.all([get(0), get(1)])).flat())
      await links.postgres.mend()
    }
  },
)

test('Postgres hangs after Redis was briefly too slow: hot questions are answered', async () => {
  const { get } = await twoFestivals()
  await links.redis.stall()
  expectAnswered(await get(0))
  expectAnswered(await get(0))
  await links.postgres.stall()
  await links.redis.mend()
  expectAnswered((await Promise.all([get(0), get(1)])).flat())
})
