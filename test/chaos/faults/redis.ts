import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '@tally/testkit/random'
import { Redis } from 'ioredis'
import { reportsOnReadyz } from '../checks/checking.ts'
import { type Fault, sleepBetween } from '../run/fault.ts'
import type { LinkedSystem } from '../system/linkedSystem.ts'

/** The file in its data folder to which Redis appends all writes. */
const file = 'appendonlydir'

const folderOf = ({ dataFolder }: LinkedSystem) => join(dataFolder, 'redis', file)
const snapshotOf = ({ dataFolder }: LinkedSystem) => join(dataFolder, 'redis-snapshot')

/** Keeps what Redis has now for a later fault, which may be many faults away, in half of all cases. */
function keepSnapshot(system: LinkedSystem, random: Random): void {
  if (existsSync(snapshotOf(system)) && random.chance(0.5)) return
  rmSync(snapshotOf(system), { recursive: true, force: true })
  cpSync(folderOf(system), snapshotOf(system), { recursive: true })
}

/** Postgres answers by then (docs/reliability.md, Redis: 5 s), plus the time of a question. */
const freshTimeoutMs = 6_000
const loudTimeoutMs = 5_000

export const redisFaults: Fault[] = [
  {
    name: 'Redis killed, keeps its data',
    allows: 'everything',
    async run(system, random) {
      keepSnapshot(system, random)
      const redis = system.servers.part('redis')
      await redis.kill('SIGKILL')
      await sleepBetween(random, 200, 3_000)
      await redis.start()
    },
  },
  {
    name: 'Redis killed, loses its data',
    allows: 'everything',
    async run(system, random) {
      const redis = system.servers.part('redis')
      await redis.kill('SIGKILL')
      rmSync(folderOf(system), { recursive: true, force: true })
      await sleepBetween(random, 200, 3_000)
      await redis.start()
    },
  },
  {
    name: 'Redis put back to an older snapshot',
    allows: 'everything',
    async run(system, random) {
      keepSnapshot(system, random)
      await sleepBetween(random, 1_000, 4_000)
      const redis = system.servers.part('redis')
      await redis.kill('SIGKILL')
      rmSync(folderOf(system), { recursive: true, force: true })
      cpSync(snapshotOf(system), folderOf(system), { recursive: true })
      await redis.start()
    },
  },
  {
    name: 'Redis FLUSHALL',
    allows: 'everything',
    async run(system, random) {
      keepSnapshot(system, random)
      const redis = new Redis(system.servers.redisUrl)
      await redis.flushall().finally(() => redis.disconnect())
    },
  },
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
        if (!(await reportsOnReadyz(system, /redis/i, loudTimeoutMs)))
          wrongs.add('a full Redis is loud', 'no /readyz says 503')
        await sleepBetween(random, 0, 2_000)
      } finally {
        await redis.config('SET', 'maxmemory', '0').finally(() => redis.disconnect())
      }
    },
  },
]
