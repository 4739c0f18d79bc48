import { describeRedis, openRedis, reasonOf, type Settings, whenReady } from '@tally/platform'
import { type ReadModel, readModelScripts, redisKeys } from '@tally/publication'

/** What `verify` and `rebuild` need. */
export type RepairDeps = ReadModel

const connectTimeoutMs = 5_000

/** Does `work` with a connection to Redis and closes it; throws a sentence if Redis does not answer. */
export async function withRedis<T>(
  { redisNodes, redisPrefix, redisQuietMs }: Pick<Settings, 'redisNodes' | 'redisPrefix' | 'redisQuietMs'>,
  work: (deps: Omit<ReadModel, 'db'>) => Promise<T>,
): Promise<T> {
  let said: unknown = 'nothing came'
  const onError = (error: unknown) => {
    said = error
  }
  const options = { name: 'repair', commandTimeoutMs: 30_000, onError, scripts: readModelScripts }
  const redis = openRedis(redisNodes, options)
  try {
    if (!(await connects(redis))) {
      const at = describeRedis(redisNodes)
      throw new Error(`Redis does not answer at ${at} (${reasonOf(said)}): start it, or set REDIS_URL`)
    }
    return await work({ redis, keys: redisKeys(redisPrefix, redisQuietMs) })
  } finally {
    redis.disconnect()
  }
}

/** Whether Redis can be connected to within `connectTimeoutMs`, in any attempt. */
async function connects(redis: ReadModel['redis']): Promise<boolean> {
  const deadline = performance.now() + connectTimeoutMs
  for (let leftMs = connectTimeoutMs; leftMs > 0; leftMs = deadline - performance.now())
    if (await whenReady(redis, Math.ceil(leftMs))) return true
  return false
}
