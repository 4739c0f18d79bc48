import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { openRedis, pingRedis, type RedisClient, reasonOf, whenReady } from '@tally/platform'
import { succeeds, until } from '@tally/testkit/until'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { startRedisCluster } from '../cluster/redisCluster.ts'
import { openRedisNodes } from '../cluster/redisNodes.ts'
import type { ReplicatedRedis } from '../cluster/replicatedRedis.ts'
import { makeCertificate } from './support/certificate.ts'

/** docs/clouds.md: a Redis Cluster over TLS whose certificate has a name, while its nodes announce their addresses. */
const folder = mkdtempSync(join(tmpdir(), 'tally-slots-'))
const tls = makeCertificate(folder, { subjectAltName: 'DNS:localhost' })
const authorities = getCACertificates('default')
let redis: ReplicatedRedis
/** The nodes by their name. */
let nodes: string[]
beforeAll(async () => {
  redis = await startRedisCluster({ hasReplicas: true, tls })
  nodes = redis.url.replaceAll('127.0.0.1', 'localhost').split(',')
  setDefaultCACertificates([...authorities, readFileSync(tls.certificate, 'utf8')])
})
afterAll(async () => {
  setDefaultCACertificates(authorities)
  await redis?.stop()
  rmSync(folder, { recursive: true })
})

/** A client of these addresses until the end of the test. */
function clientOf(addresses: string[]): RedisClient {
  const client = openRedis(addresses, { name: 'slots', commandTimeoutMs: 1_000, onError() {} })
  onTestFinished(() => client.disconnect())
  return client
}

/** Keys of all nodes. */
const everywhere = Array.from({ length: 20 }, (_, number) => `key-${number}`)
const writeEverywhere = (client: RedisClient) => Promise.all(everywhere.map(key => client.incr(key)))

test.each([
  ['all nodes', () => nodes],
  ['one of the masters', () => nodes.slice(0, 1)],
  ['one of the replicas', () => nodes.slice(-1)],
])('a client of %s is one of the whole cluster', async (_, addresses) => {
  const client = clientOf(addresses())
  expect(await whenReady(client, 60_000)).toBe(true)
  expect(client).toBeInstanceOf(Cluster)
  await writeEverywhere(client)
})

test('a client of nodes that announce their name connects to that', async () => {
  const named = await startRedisCluster({ hasReplicas: false, tls, announces: 'localhost' })
  onTestFinished(named.stop)
  const client = clientOf([named.url.replaceAll('127.0.0.1', 'localhost').split(',')[0] as string])
  expect(await whenReady(client, 60_000)).toBe(true)
  await writeEverywhere(client)
  expect((client as Cluster).nodes().map(({ options }) => options.host)).toEqual(Array(3).fill('localhost'))
})

test.each([
  ['is for another name', () => redis.url.split(','), "does not match certificate's altnames"],
  ['is for another name, of one address', () => redis.url.split(',').slice(0, 1), 'altnames'],
  ['is not trusted', () => nodes, 'self-signed certificate'],
])('a client does not connect, and says why, if the certificate %s', async (fault, addresses, reason) => {
  if (fault === 'is not trusted') {
    const trusted = getCACertificates('default')
    setDefaultCACertificates(authorities)
    onTestFinished(() => setDefaultCACertificates(trusted))
  }
  const client = clientOf(addresses())
  expect(await whenReady(client, 10_000)).toBe(false)
  expect(reasonOf(await pingRedis(client).catch(error => error))).toContain(reason)
})

test('a client finds nodes that do not announce a host where it asked', async () => {
  const hidden = await startRedisCluster({ hasReplicas: false, announces: 'unknown-endpoint' })
  onTestFinished(hidden.stop)
  const client = clientOf([hidden.url.split(',')[0] as string])
  expect(await whenReady(client, 60_000)).toBe(true)
  await writeEverywhere(client)
})

test('a client takes the master that a sentinel names by its address', async () => {
  const redises = openRedisNodes()
  onTestFinished(redises.stop)
  const master = await redises.start([], { tls })
  const watching = [`sentinel monitor main 127.0.0.1 ${master} 1`]
  const sentinel = await redises.start(watching, { tls, isSentinel: true })
  const client = clientOf([`rediss+sentinel://localhost:${sentinel}/main`])
  await until('the client writes to the master', () => succeeds(client.set('key', 1)))
})

test('a client of one address uses the whole cluster even if its user may not read INFO', async () => {
  for (const node of nodes) {
    const one = new Redis(node)
    await one.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info')
    one.disconnect()
  }
  const client = clientOf([nodes[0]?.replace('//', '//blind:secret@') as string])
  await whenReady(client, 60_000)
  await until('the client writes to all nodes', () => succeeds(writeEverywhere(client)))
  expect(client).toBeInstanceOf(Cluster)
})

test.each([
  ['a cluster', () => `${nodes[0]}/3`, /SELECT is not allowed/],
  ['one Redis', () => `${inject('servers').redisUrl}/999`, /DB index is out of range/],
])('a client of a database that %s does not have uses no other one', async (_, address, reason) => {
  const errors: string[] = []
  const onError = (error: Error) => void errors.push(reasonOf(error))
  const client = openRedis([address()], { name: 'slots', commandTimeoutMs: 1_000, onError })
  onTestFinished(() => client.disconnect())
  let isReady = false
  client.on('ready', () => {
    isReady = true
  })
  await until('it has tried twice', async () => errors.filter(error => reason.test(error)).length > 1)
  expect(isReady).toBe(false)
  expect(reasonOf(await pingRedis(client).catch(error => error))).toMatch(/SELECT|DB index|database 0/)
})

/** Three keys of one node, each in another slot. */
async function keysOfOneNode(node: Redis): Promise<string[]> {
  const found: string[] = []
  for (let number = 0; found.length < 3; number++)
    await node.set(`key-${number}`, 0).then(
      () => found.push(`key-${number}`),
      () => undefined,
    )
  return found
}

test('a client learns where slots are that moved without a connection being closed', async () => {
  const client = clientOf(nodes)
  const masters = (await redis.masters()).map(port => new Redis(`rediss://localhost:${port}`))
  onTestFinished(() => {
    for (const one of masters) one.disconnect()
  })
  await whenReady(client, 60_000)
  const [from, to] = masters as [Redis, Redis, Redis]
  const [stays, ...moves] = await keysOfOneNode(from)
  const write = () => Promise.all([stays, ...moves].map(key => client.incr(key as string)))
  await write()

  const [fromId, toId] = await Promise.all([from, to].map(node => node.call('CLUSTER', 'MYID')))
  for (const key of moves) {
    const slot = Number(await from.call('CLUSTER', 'KEYSLOT', key))
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId))
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId))
    await from.migrate('127.0.0.1', to.options.port as number, key, 0, 5_000)
    for (const node of [to, ...masters.filter(node => node !== to)])
      await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId))
  }

  await expect(write()).rejects.toThrow('MOVED')
  await until('the client writes to both nodes', () => succeeds(write()), 60_000)
})

test('a client follows a failover', async () => {
  const client = clientOf(nodes.slice(0, 1))
  await whenReady(client, 60_000)
  await writeEverywhere(client)
  const [master = 0] = await redis.masters()
  await redis.failOver(master)
  await until('the client writes to the successor', () => succeeds(writeEverywhere(client)), 60_000)
})
