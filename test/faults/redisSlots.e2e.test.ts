import { openRedis, whenReady } from '@tally/storage'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startRedisCluster } from '#infra/cluster/redisCluster.ts'
import type { ReplicatedRedis } from '#infra/cluster/replicatedRedis.ts'

let redis: ReplicatedRedis
beforeAll(async () => {
  redis = await startRedisCluster({ hasReplicas: false })
})
afterAll(() => redis?.stop())

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
  const client = openRedis(redis.url.split(','), { name: 'slots', commandTimeoutMs: 1_000, onError() {} })
  const nodes = (await redis.masters()).map(port => new Redis(port))
  onTestFinished(() => {
    for (const one of [client, ...nodes]) one.disconnect()
  })
  await whenReady(client, 10_000)
  const [from, to] = nodes as [Redis, Redis, Redis]
  const [stays, ...moves] = await keysOfOneNode(from)
  const write = () => Promise.all([stays, ...moves].map(key => client.incr(key as string)))
  await write()

  const [fromId, toId] = await Promise.all([from, to].map(node => node.call('CLUSTER', 'MYID')))
  for (const key of moves) {
    const slot = Number(await from.call('CLUSTER', 'KEYSLOT', key))
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId))
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId))
    await from.migrate('127.0.0.1', to.options.port as number, key, 0, 5_000)
    for (const node of [to, ...nodes.filter(node => node !== to)])
      await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId))
  }

  await expect(write()).rejects.toThrow('MOVED')
  await until(
    'the client writes to both nodes',
    () =>
      write().then(
        () => true,
        () => false,
      ),
    60_000,
  )
})
