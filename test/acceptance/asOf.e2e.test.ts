import { ask as askHttp } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const tally = useTally({ queries: 2 })
const festival = newFestival()
const paths = [...eventPaths, '/orders/one']

test('asOf follows the clock while nothing is sold, stands still without a projector, and never goes back', async () => {
  await tally.count([festival.organization(), festival.event(), festival.order({ orderId: 'one' })])
  const token = await tally.key(festival.organizationId)
  const ask = (query = 0, path = '/analytics/kpis') => tally.get(`${festival.path}${path}`, { token, query })
  const seen = [0, 0]
  const look = async (query: number) => {
    const { body, headers } = await ask(query)
    const asOf = Date.parse(body.meta.asOf)
    expect(headers['tally-as-of']).toBe(body.meta.asOf)
    expect(asOf).toBeGreaterThanOrEqual(seen[query] ?? 0)
    seen[query] = asOf
    return Date.now() - asOf
  }

  // On a busy machine a process may once get none of its processors for a second; it never stands still for long.
  let endsAt = performance.now() + 4_000
  await until('asOf is 2 s old at most for four idle seconds', async () => {
    for (const query of [0, 1]) {
      const age = await look(query)
      expect(age).toBeLessThan(5_000)
      if (age > 2_000) endsAt = performance.now() + 4_000
    }
    return performance.now() > endsAt
  })
  for (const path of paths)
    await until(`asOf of ${path} is 2 s old at most`, async () => {
      const { body, headers } = await ask(0, path)
      expect({ path, asOf: body.meta.asOf }).toEqual({ path, asOf: headers['tally-as-of'] })
      return Date.now() - Date.parse(body.meta.asOf) <= 2_000
    })
  expect((await tally.get('/api/v1/events', { token })).headers['tally-as-of']).toBeUndefined()

  await Promise.all(tally.projectors.map(projector => projector.end('SIGKILL')))
  await tally.produce([festival.order({ orderId: 'two' })])
  const soldAt = Date.now()
  await until('it is behind', async () => (await look(0)) > 3_000)
  // A projector that is gone has no metrics: those of the query processes have to show it.
  // Postgres may have a later watermark than the answers, which Redis has.
  await until('its metrics say that it is behind', async () =>
    (await seriesOf('tally_query_as_of_age_seconds')).every(age => age > 3),
  )
  const stuck = (await ask()).body
  expect(Date.parse(stuck.meta.asOf)).toBeLessThan(soldAt)
  expect(stuck.data.totalOrders).toBe(1)

  await tally.startProjector()
  await until('the projector has caught up', async () => (await look(1)) <= 2_000)
  await until('the metrics say so', async () =>
    (await seriesOf('tally_query_as_of_age_seconds')).every(age => age < 2),
  )
  await until('asOf is past the sale', async () => Date.now() - (await look(0)) >= soldAt)
  expect((await ask()).body.data.totalOrders).toBe(2)
})

/** The values of a metric of the first query process, one for each set of labels; at least one. */
async function seriesOf(name: string): Promise<number[]> {
  const ops = tally.queries[0]?.ops ?? ''
  const { text } = await askHttp(ops, '/metrics')
  const values = [...text.matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))].map(([, value]) =>
    Number(value),
  )
  expect(values).not.toEqual([])
  return values
}

test('a query process counts its batches and its connections to Postgres, and names its versions', async () => {
  expect((await seriesOf('tally_query_batch_requests_count'))[0]).toBeGreaterThan(0)
  expect(await seriesOf('tally_postgres_connections')).toHaveLength(6)
  expect(await seriesOf('tally_postgres_connection_limit')).toEqual([8, 4])
  expect(await seriesOf('tally_build_info')).toEqual([1])
  expect(await seriesOf('tally_time_zone_data_info{version="20\\d\\d[a-z]"}')).toEqual([1])
  expect((await seriesOf('nodejs_eventloop_lag_p99_seconds'))[0]).toBeGreaterThan(0)
})

test.for([1, 1, 1, 6_000, 6_000])('whatever asOf is past is counted: %i orders at once', async count => {
  const token = await tally.key(festival.organizationId)
  const ask = async (query: number) =>
    (await tally.get(`${festival.path}/analytics/kpis`, { token, query })).body
  const before = (await ask(0)).data.totalOrders
  await tally.produce(Array.from({ length: count }, () => festival.order()))
  const soldAt = Date.now()
  let body = await ask(0)
  // The first answer that is past the sale has to have it all, also while the projector was behind.
  await until('asOf is past the sale', async () => {
    body = await ask(count % 2)
    return Date.parse(body.meta.asOf) >= soldAt
  })
  expect(body.data.totalOrders).toBe(before + count)
})
