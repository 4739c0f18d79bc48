import { once } from 'node:events'
import { ask } from '@tally/testkit/processes/http'
import { type Environment, startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { openRelay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeCertificate, openRedises, type Redises } from './servers/redis.ts'

/** docs/reliability.md, Redis: `rediss://`, user and password, Sentinel. */
const tally = useTally({ projectors: 1, queries: 0 })
const sagra = newFestival()
const started: TallyProcess[] = []
let orders = 1
let redises: Redises
let token: string

beforeAll(async () => {
  redises = openRedises()
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  token = await tally.key(sagra.organizationId)
  await tally.projectors[0]?.end()
})
afterEach(async () => {
  for (const process of started.splice(0)) await process.end()
})
afterAll(() => redises?.stop())

/** A user whose password must be escaped in an address; no other user may do anything. */
const acl = ['user default off', 'user tally on >p@ss:word ~* &* +@all']
const credentials = `tally:${encodeURIComponent('p@ss:word')}@`

/** Starts a projector and a query process; resolves with the addresses of the query process and of its ops port. */
async function start(settings: Environment): Promise<{ address: string; ops: string }> {
  const [, query] = ['projector', 'query'].map(command => {
    const process = startProcess([command], { ...tally.settings, ...settings })
    started.push(process)
    return process
  })
  const { address = '', ops = '' } = (await query?.line(({ msg }) => msg === 'query started')) ?? {}
  return { address, ops }
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
  const { certificate, key } = makeCertificate(redises.folder)
  const tls = [`tls-cert-file ${certificate}`, `tls-key-file ${key}`, 'tls-auth-clients no']
  const port = await redises.start([...tls, ...acl], { isTls: true })
  const query = await start({
    REDIS_URL: `rediss://${credentials}127.0.0.1:${port}`,
    NODE_EXTRA_CA_CERTS: certificate,
  })
  await untilRedisSaysAll(query)
})

test('with Sentinel, Tally finds the master, and its successor after a failover', {
  timeout: 600_000,
}, async () => {
  const own = [...acl, 'masteruser tally', 'masterauth p@ss:word']
  const master = await redises.start(own)
  const replica = await redises.start([...own, `replicaof 127.0.0.1 ${master}`])
  const watching = [
    `sentinel monitor main 127.0.0.1 ${master} 2`,
    'sentinel auth-user main tally',
    'sentinel auth-pass main p@ss:word',
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 3000',
  ]
  const sentinels = await Promise.all([1, 2, 3].map(() => redises.start(watching, { isSentinel: true })))
  const hosts = sentinels.map(port => `127.0.0.1:${port}`).join(',')
  const url = `redis+sentinel://${credentials}${hosts}/main`
  // Any of the sentinels may lead the failover, and one that does not know the replica yet never learns of it
  // afterwards.
  for (const [index, port] of sentinels.entries()) {
    const sentinel = quietRedis(`redis://127.0.0.1:${port}`)
    const knows = async (kind: 'replicas' | 'sentinels') =>
      ((await sentinel.call('sentinel', kind, 'main').catch(() => [])) as unknown[]).length
    await until(`sentinel ${index} knows the replica`, async () => (await knows('replicas')) === 1)
    await until(`sentinel ${index} knows the others`, async () => (await knows('sentinels')) === 2)
    sentinel.disconnect()
  }
  const query = await start({ REDIS_URL: url })
  await untilRedisSaysAll(query)

  await redises.kill(master)
  const promoted = quietRedis(`redis://${credentials}127.0.0.1:${replica}`)
  await until('the replica is the master', () => isMaster(promoted))
  await sell()
  await untilRedisSaysAll(query)
  expect(
    await promoted.hget(`${tally.settings.REDIS_PREFIX}:event:{${sagra.eventId}}`, 'revision'),
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

function quietRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 100 })
  return redis.on('error', () => {})
}

const isMaster = async (redis: Redis): Promise<boolean> =>
  ((await redis.role().catch(() => [])) as unknown[])[0] === 'master'
