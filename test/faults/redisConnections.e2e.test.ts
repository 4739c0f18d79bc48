import { once } from 'node:events'
import { ask } from '@tally/testkit/processes/http'
import { type Environment, startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { openRelay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startRedisCluster } from '../cluster/redisCluster.ts'
import { openRedisNodes, type RedisNodes } from '../cluster/redisNodes.ts'
import { startRedisWithSentinel } from '../cluster/redisSentinel.ts'
import { makeCertificate } from './support/certificate.ts'

/** docs/reliability.md, Redis: `rediss://`, user and password, Sentinel. */
const tally = useTally({ projectors: 1, queries: 0 })
const sagra = newFestival()
const started: TallyProcess[] = []
let orders = 1
let redises: RedisNodes
let token: string

beforeAll(async () => {
  redises = openRedisNodes()
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  token = await tally.key(sagra.organizationId)
  await tally.projectors[0]?.end()
})
afterEach(async () => {
  for (const process of started.splice(0)) await process.end()
})
afterAll(() => redises?.stop())

/** A user whose password must be escaped in an address; no other user may do anything. */
const user = { username: 'tally', password: 'p@ss:word' }
const acl = ['user default off', `user ${user.username} on >${user.password} ~* &* +@all`]
const credentials = `${user.username}:${encodeURIComponent(user.password)}@`

/** Starts a projector and a query process; resolves with the addresses of the query process and of its ops port. */
async function start(settings: Environment): Promise<{ address: string; ops: string }> {
  const [projector, query] = ['projector', 'query'].map(command =>
    startProcess([command], { ...tally.settings, ...settings }),
  ) as [TallyProcess, TallyProcess]
  started.push(projector, query)
  return query.started()
}

/** Produces one more order. */
async function sell() {
  orders++
  await tally.produce([sagra.order()])
}

/** Waits until the figures show all orders, without a query to Postgres. */
async function untilRedisSaysAll({ address, ops }: { address: string; ops: string }) {
  const fromPostgres = async () => {
    const { text } = await ask(ops, '/metrics')
    return Number(/^tally_query_source_total\{source="postgres"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  await until(`Redis says ${orders} orders`, async () => {
    const before = await fromPostgres()
    const { body } = await ask(address, `${sagra.path}/analytics/kpis`, { token })
    return body?.data?.totalOrders === orders && (await fromPostgres()) === before
  })
}

test('with Redis over TLS, user and password, documents are stored there and answers come from there', async () => {
  const tls = makeCertificate(redises.folder)
  const port = await redises.start(acl, { tls })
  const query = await start({
    REDIS_URL: `rediss://${credentials}127.0.0.1:${port}`,
    NODE_EXTRA_CA_CERTS: tls.certificate,
  })
  await untilRedisSaysAll(query)
})

test('with Sentinel, Tally finds the master, and its successor after a failover', {
  timeout: 600_000,
}, async () => {
  const redis = await startRedisWithSentinel({ user })
  onTestFinished(redis.stop)
  const query = await start({ REDIS_URL: redis.url })
  await untilRedisSaysAll(query)

  const [master = 0] = await redis.masters()
  await redis.failOver(master)
  const [successor] = await redis.masters()
  const promoted = quietRedis(`redis://${credentials}127.0.0.1:${successor}`)
  await sell()
  await untilRedisSaysAll(query)
  expect(
    await promoted.hget(`${tally.settings.REDIS_PREFIX}:documents:{${sagra.eventId}}`, 'revision'),
  ).not.toBeNull()
  promoted.disconnect()
})

test('with Sentinel, a failover that is announced while a sentinel is asked for the master is followed', {
  timeout: 600_000,
}, async () => {
  const master = await redises.start([])
  await redises.start([`replicaof 127.0.0.1 ${master}`])
  const watching = [
    `sentinel monitor main 127.0.0.1 ${master} 1`,
    'sentinel down-after-milliseconds main 1000',
  ]
  const port = await redises.start(watching, { isSentinel: true })
  const sentinel = quietRedis(`redis://127.0.0.1:${port}`)
  await until('the sentinel knows the replica', async () => {
    const replicas = (await sentinel.call('sentinel', 'replicas', 'main').catch(() => [])) as unknown[]
    return replicas.length === 1
  })
  // Tally knows the same sentinel by two addresses; the first one is asked first, and hangs during the failover.
  const relay = await openRelay({ host: '127.0.0.1', port })
  const query = await start({
    REDIS_URL: `redis+sentinel://127.0.0.1:${relay.port},127.0.0.1:${port}/main`,
  })
  await untilRedisSaysAll(query)
  const listening = async () =>
    String(await sentinel.call('client', 'list', 'type', 'pubsub')).match(/sub=1/g)?.length
  await until('both processes listen at both addresses', async () => (await listening()) === 4)

  const announced = once(sentinel, 'message')
  await sentinel.subscribe('+switch-master')
  relay.stall()
  await redises.kill(master)
  await announced
  await relay.mend()
  await sell()
  await untilRedisSaysAll(query)
  sentinel.disconnect()
  await relay.close()
})

test('with one address of a Redis Cluster that is down at the start, Tally uses the whole cluster once it is up', async () => {
  const cluster = await startRedisCluster({ hasReplicas: false })
  onTestFinished(cluster.stop)
  const key = `${tally.settings.REDIS_PREFIX}:documents:{${sagra.eventId}}`
  const answers = await Promise.all(
    (await cluster.masters()).map(async port => {
      const node = quietRedis(`redis://127.0.0.1:${port}`)
      onTestFinished(() => node.disconnect())
      return { port, said: await node.get(key).catch(error => String(error)) }
    }),
  )
  const other = answers.find(({ said }) => said?.includes('MOVED'))
  const relay = await openRelay({ host: '127.0.0.1', port: other?.port ?? 0 })
  onTestFinished(relay.close)
  await relay.cut()
  const query = await start({ REDIS_URL: `redis://127.0.0.1:${relay.port}` })
  const { body } = await ask(query.address, `${sagra.path}/analytics/kpis`, { token })
  expect(body?.data?.totalOrders).toBe(orders)
  await relay.mend()
  await untilRedisSaysAll(query)
})

function quietRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 100 })
  return redis.on('error', () => {})
}
