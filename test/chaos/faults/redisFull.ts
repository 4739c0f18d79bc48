import { Redis } from 'ioredis'
import { isLoud } from '../checks/loud.ts'
import { type Fault, last } from '../run/fault.ts'

/** Postgres answers by then (docs/reliability.md, Redis: 5 s), plus the time of a question. */
const freshTimeoutMs = 6_000
const loudTimeoutMs = 5_000

export const redisFullFaults: Fault[] = [
  {
    name: 'Redis full',
    allows: 'everything',
    async run(system, random, { isFresh, wrongs }) {
      const redis = new Redis(system.servers.redisUrl)
      try {
        await redis.config('SET', 'maxmemory-policy', 'noeviction')
        // Less than an empty Redis uses: every write is refused.
        await redis.config('SET', 'maxmemory', '1000000')
        const fullMs = Date.now()
        if (!(await isFresh({ sinceMs: fullMs, timeoutMs: freshTimeoutMs })))
          wrongs.add(
            'answers come from Postgres within 5 s of a full Redis',
            `not after ${freshTimeoutMs} ms`,
          )
        if (!(await isLoud(system, /redis/i, loudTimeoutMs)))
          wrongs.add('a full Redis is loud', 'no /readyz says 503')
        await last(random, 0, 2_000)
      } finally {
        await redis.config('SET', 'maxmemory', '0').finally(() => redis.disconnect())
      }
    },
  },
]
