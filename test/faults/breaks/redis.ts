import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { type Break, changed, type Undo } from './break.ts'
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

export const redisBreaks: Break[] = [
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
      REDIS_URL: await changed(await redisWith(of, undo), {
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
