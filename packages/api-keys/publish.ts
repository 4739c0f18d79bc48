import type { Postgres, RedisClient, RedisKeys } from '@tally/read-models'
import type { Log } from './keySource.ts'
import { copyKey, copyLifeSeconds, publishedKey } from './redisCopy.ts'
import { readKeyPage } from './store.ts'

/** Small enough that a page of copies is written well within a command's time-out. */
const pageSize = 200
/** Longer than a copy lives: no older copy that says "good" is left over. */
const revokedWithinMs = (copyLifeSeconds + 24 * 3600) * 1000

/** Writes a copy of every good or lately revoked key to Redis, page by page; returns how many. */
export async function publishKeys(db: Postgres, redis: RedisClient, keys: RedisKeys): Promise<number> {
  const revokedSince = Date.now() - revokedWithinMs
  let count = 0
  for (let after = ''; ; ) {
    const page = await readKeyPage(db, { after, limit: pageSize, revokedSince })
    await Promise.all(page.map(stored => copyKey(redis, keys, stored)))
    count += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) break
    after = last.key.keyId
  }
  await redis.set(publishedKey(keys), Date.now(), 'EX', copyLifeSeconds)
  return count
}

/** How long nobody could tell whose a key is if Postgres died just after Redis had lost its data. */
const lookEveryMs = 500
const publishEveryMs = 10 * 60_000

type Parts = { db: Postgres; redis: RedisClient; keys: RedisKeys; logger: Log }

/**
 * Keeps the copies in Redis whole: writes all of them at the start, whenever Redis comes back, when it lost them
 * (looked at every 0.5 s) and every 10 minutes. What fails is tried again at the next look. Returns what stops it.
 */
export function keepPublished({ db, redis, keys, logger }: Parts): () => Promise<void> {
  let isDue = true
  let running: Promise<void> | undefined

  const look = async () => {
    if (redis.status !== 'ready') return
    const published = Number((await redis.get(publishedKey(keys))) ?? 0)
    if (!isDue && Date.now() - published < publishEveryMs) return
    isDue = false
    try {
      const count = await publishKeys(db, redis, keys)
      logger.debug({ keys: count }, 'copies of the API keys written to Redis')
    } catch (error) {
      isDue = true
      throw error
    }
  }
  const run = () => {
    running ??= look()
      .catch(error => logger.debug({ err: error }, 'copies of the API keys not written; trying again'))
      .finally(() => {
        running = undefined
      })
  }
  const onReady = () => {
    isDue = true
    run()
  }

  const timer = setInterval(run, lookEveryMs)
  redis.on('ready', onReady)
  run()
  return async () => {
    clearInterval(timer)
    redis.off('ready', onReady)
    await running
  }
}
