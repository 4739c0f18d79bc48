import { type ReadModelRedis, type RedisKeys, readModelScripts, redisKeys } from '@tally/read-models'
import { describeRedis, type Settings } from '@tally/runtime'
import { openRedis, type Postgres } from '@tally/storage'

/** What a verification or a repair works on. */
export type RepairParts = { db: Postgres; redis: ReadModelRedis; keys: RedisKeys }

const patienceMs = 5_000

/** Does `work` with a connection to Redis and closes it; throws a sentence where Redis does not answer. */
export async function withRedis<T>(
  { redisNodes, redisPrefix }: Pick<Settings, 'redisNodes' | 'redisPrefix'>,
  work: (parts: { redis: ReadModelRedis; keys: RedisKeys }) => Promise<T>,
): Promise<T> {
  const redis = openRedis(
    redisNodes,
    { name: 'repair', commandTimeoutMs: 30_000, onError: () => {} },
    readModelScripts,
  )
  try {
    await ready(redis).catch(() => {
      const hosts = describeRedis(redisNodes)
      throw new Error(`Redis does not answer at ${hosts}: start it, or set REDIS_URL`)
    })
    return await work({ redis, keys: redisKeys(redisPrefix) })
  } finally {
    redis.disconnect()
  }
}

async function ready(redis: ReadModelRedis): Promise<void> {
  if (redis.status === 'ready') return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error('too late')), patienceMs)
  redis.once('ready', resolve)
  await promise.finally(() => clearTimeout(timer))
}
