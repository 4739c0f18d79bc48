import { accessKeys, accessScripts, copyKey, type StoredKey } from '@tally/access'
import { describeRedis, openRedis, type Settings, whenReady } from '@tally/platform'
import { remark } from '../../output.ts'

const timeoutMs = 1_000

/**
 * Copies a key that was just created or revoked to Redis, where it is needed if Postgres goes down.
 * A Redis that is down is not a failure: Postgres has the key, and a query process writes the copy later.
 */
export async function copyToRedis(settings: Settings, stored: StoredKey): Promise<void> {
  const redis = openRedis(settings.redisNodes, {
    name: 'cli',
    commandTimeoutMs: timeoutMs,
    onError: () => {},
    scripts: accessScripts,
  })
  try {
    if (!(await whenReady(redis, timeoutMs))) throw new Error('not connected')
    await copyKey(redis, accessKeys(settings.redisPrefix), stored)
  } catch {
    const nodes = describeRedis(settings.redisNodes)
    remark(`tally: Redis does not answer at ${nodes}; the key is in Postgres and will be copied later`)
  } finally {
    redis.disconnect()
  }
}
