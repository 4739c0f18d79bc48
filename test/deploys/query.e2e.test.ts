import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBalancer } from './balancer.ts'
import { startRequests } from './requests.ts'

const tally = useTally({ queries: 0, settings: { QUERY_DRAIN_MS: '3000' } })
const sagra = newFestival()
const paths = ['/analytics/kpis', '/analytics/orders/by-hour', '/live/item-counts', ''].map(
  path => `${sagra.path}${path}`,
)

let token: string
beforeAll(async () => {
  await tally.count([sagra.organization(), sagra.event(), sagra.order(), sagra.order()])
  token = await tally.key(sagra.organizationId)
})

test('a rolling restart of three query processes fails no request', async () => {
  const balancer = openBalancer(250)
  onTestFinished(balancer.close)
  const queries = await Promise.all([tally.startQuery(), tally.startQuery(), tally.startQuery()])
  await Promise.all(queries.map(balancer.add))

  const requests = startRequests(balancer, { rate: 300, paths, token })
  for (const old of queries) {
    expect(await old.process.end('SIGTERM')).toBe(0)
    balancer.remove(old)
    await balancer.add(await tally.startQuery())
  }
  const { sent, perSecond } = await requests.stop()
  console.info(`${sent} requests, ${perSecond} per second, ${requests.failures.length} failed`)
  expect(requests.failures).toEqual([])
  expect(sent).toBeGreaterThan(1_000)
})

test('a query process that stops says so while it still answers', async () => {
  const { process, address, ops } = await tally.startQuery({ QUERY_DRAIN_MS: '5000' })
  const ended = process.end('SIGTERM')
  await until('it is not ready', async () => (await ask(ops, '/readyz')).status === 503)
  expect((await ask(ops, '/readyz')).body.missing).toBe('stopping')
  expect((await ask(address, paths[0] ?? '', { token })).status).toBe(200)
  // The second signal ends it at once.
  process.end('SIGTERM')
  expect(await ended).toBe(1)
})
