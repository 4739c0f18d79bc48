import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { freePort } from '#infra/servers/ports.ts'
import { makeCertificate } from '../support/certificate.ts'
import { type Break, relayWithChange, type Undo } from './break.ts'
import type { Installation } from './installation.ts'

/** The address of a Redis with these lines of configuration, which answers. */
async function redisWith({ redises }: Installation, undo: Undo, ...lines: string[]): Promise<string> {
  const port = await redises.start(lines)
  undo(() => redises.kill(port))
  const url = `redis://127.0.0.1:${port}`
  await onRedis(url, redis => redis.ping())
  return url
}

async function onRedis(url: string, work: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  await work(redis).finally(() => redis.disconnect())
}

const configured = (line: string, what: string, ...lines: string[]): Break => ({
  line,
  what,
  make: async (of, undo) => ({ REDIS_URL: await redisWith(of, undo, ...lines) }),
})

const redisOverTls = async (
  { redises, certificate, key }: Pick<Installation, 'redises' | 'certificate' | 'key'>,
  undo: Undo,
): Promise<number> => {
  const port = await redises.start([], { tls: { certificate, key } })
  undo(() => redises.kill(port))
  return port
}

/** A Redis Cluster of one master, whose address is that of any cluster with one endpoint. */
export async function clusterWith(of: Installation, undo: Undo, ...lines: string[]): Promise<string> {
  const own = ['cluster-enabled yes', `cluster-port ${await freePort()}`]
  const url = await redisWith(of, undo, ...own, `cluster-config-file nodes-${++clusters}.conf`, ...lines)
  await onRedis(url, async redis => {
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
    await until('it serves its slots', async () => (await redis.cluster('INFO')).includes('cluster_state:ok'))
  })
  return url
}
let clusters = 0

export const redisBreaks: Break[] = [
  {
    line: 'fail redis',
    what: 'TLS, where Redis speaks none',
    says: /does not speak TLS: write redis:/,
    make: async (of, undo) => ({ REDIS_URL: (await redisWith(of, undo)).replace('redis:', 'rediss:') }),
  },
  {
    line: 'fail redis',
    what: 'no TLS, where Redis speaks it',
    says: /it speaks TLS: write rediss:/,
    make: async (of, undo) => ({ REDIS_URL: `redis://127.0.0.1:${await redisOverTls(of, undo)}` }),
  },
  {
    line: 'fail redis',
    what: 'nodes of a cluster whose authority is unknown',
    says: /certificate is not trusted .*: let NODE_EXTRA_CA_CERTS/,
    // Their certificate expires soon, which is another line.
    make: async (of, undo) => {
      const folder = mkdtempSync(join(of.redises.folder, 'named-'))
      chmodSync(folder, 0o755)
      const ports = []
      for (let count = 0; count < 2; count++)
        ports.push(await redisOverTls({ ...of, ...makeCertificate(folder, { days: 90 }) }, undo))
      return { REDIS_URL: ports.map(port => `rediss://127.0.0.1:${port}`).join(',') }
    },
  },
  {
    line: 'fail redis',
    what: 'several nodes that are no cluster',
    says: /not a Redis Cluster, and REDIS_URL names several/,
    make: async (of, undo) => ({ REDIS_URL: `${await redisWith(of, undo)},${await redisWith(of, undo)}` }),
  },
  {
    line: 'fail redis',
    what: 'a database number for a cluster',
    says: /a Redis Cluster, and REDIS_URL names a database/,
    make: async (of, undo) => ({ REDIS_URL: `${await clusterWith(of, undo)}/3` }),
  },
  {
    line: 'fail redis',
    what: 'a database number that Redis does not have',
    says: /no database of that number/,
    make: async (of, undo) => ({ REDIS_URL: `${await redisWith(of, undo)}/99` }),
  },
  {
    line: 'fail redis',
    what: 'a cluster that announces a name that is unknown here',
    says: /one of whose nodes cannot be reached from here .*nowhere\.test.*: run Tally in the network/,
    make: async (of, undo) => {
      const announced = ['cluster-announce-hostname nowhere.test', 'cluster-preferred-endpoint-type hostname']
      return { REDIS_URL: await clusterWith(of, undo, ...announced) }
    },
  },
  {
    line: 'fail redis',
    what: 'Redis is down',
    make: () => ({ REDIS_URL: 'redis://:hidden@127.0.0.1:1' }),
  },
  {
    line: 'fail redis',
    what: 'a wrong password',
    make: async (of, undo) => {
      const url = await redisWith(of, undo, 'user tally on >right ~* &* +@all')
      return { REDIS_URL: url.replace('//', '//tally:hidden@') }
    },
  },
  {
    line: 'fail redis',
    what: 'a full Redis that does not let Tally see why it refuses writes',
    make: async (of, undo) => {
      const url = await redisWith(of, undo, 'maxmemory 1mb', 'user tally on >hidden ~* &* +@all -info')
      return { REDIS_URL: url.replace('//', '//tally:hidden@') }
    },
  },
  {
    line: 'fail redis version',
    what: 'an old Redis',
    make: async (of, undo) => ({
      REDIS_URL: await relayWithChange(await redisWith(of, undo), {
        from: /redis_version:\d/,
        to: 'redis_version:6',
        undo,
      }),
    }),
  },
  configured(
    'fail eviction policy',
    'a Redis that drops documents',
    'maxmemory 100mb',
    'maxmemory-policy allkeys-lru',
  ),
  configured('fail redis memory', 'a full Redis', 'maxmemory 1mb'),
  {
    line: 'fail redis persistence',
    what: 'a Redis that cannot save',
    make: async (of, undo) => {
      const url = await redisWith(of, undo, 'dbfilename in-the-way.rdb', 'save 3600 1')
      // Redis cannot put its file in the place of a folder.
      mkdirSync(join(of.redises.folder, 'in-the-way.rdb'))
      await onRedis(url, async redis => {
        await redis.bgsave()
        await until('saving has failed', async () =>
          (await redis.info('persistence')).includes('bgsave_status:err'),
        )
      })
      return { REDIS_URL: url }
    },
  },
  configured('fail redis role', 'a replica', 'replicaof 127.0.0.1 1'),
  configured('fail redis role', 'a master without its replicas', 'min-replicas-to-write 1'),
]
