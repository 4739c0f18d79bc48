import { randomUUID } from 'node:crypto'
import { type Logger, openInterval, type Postgres } from '@tally/platform'
import { readKeyPage } from '../keys/store.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'
import { copyKey, copyLifeSeconds } from './redisCopy.ts'

/** Small enough that a page of copies is written well within a command timeout. */
const pageSize = 200
/** Longer than a copy lives: no older copy that says "good" is left over. */
const revokedWithinMs = (copyLifeSeconds + 24 * 3600) * 1000

/** `apiKeysCopied` says that all copies are there, so it must expire before the first of them. */
const copiedLifeSeconds = copyLifeSeconds - 3600

/**
 * Writes a copy of every good or recently revoked key to Redis, page by page, and then marks the copies as complete.
 * Returns their number. Throws without marking them if Redis lost data meanwhile, or may have (`mayHaveLost`).
 */
export async function publishKeys(
  db: Postgres,
  redis: AccessRedis,
  keys: AccessKeys,
  mayHaveLost = () => false,
): Promise<number> {
  await redis.set(keys.apiKeysEpoch, randomUUID(), 'NX')
  const epoch = (await redis.get(keys.apiKeysEpoch)) ?? ''
  const round = await redis.beginCopies(keys.apiKeysRound, keys.apiKeysCopiedRound)
  const revokedSince = Date.now() - revokedWithinMs
  let count = 0
  for (let after = ''; ; ) {
    const page = await readKeyPage(db, { after, limit: pageSize, revokedSince })
    await Promise.all(page.map(stored => copyKey(redis, keys, stored, round)))
    count += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) break
    after = last.key.keyId
  }
  const reply = mayHaveLost()
    ? 'lost'
    : await redis.markCopied(
        keys.apiKeysEpoch,
        keys.apiKeysCopied,
        keys.apiKeysCopiedRound,
        epoch,
        Date.now(),
        copiedLifeSeconds,
        round,
      )
  if (reply === 'lost') throw new Error('Redis lost copies of the API keys while they were written')
  return count
}

/** How soon lost copies are noticed. Until they are written again, API keys cannot be checked if Postgres goes down. */
const checkEveryMs = 500
const maxBackoffMs = 5_000
const copyEveryMs = 10 * 60_000

type Deps = { db: Postgres; redis: AccessRedis; keys: AccessKeys; logger: Pick<Logger, 'debug'> }

/**
 * Keeps the copies in Redis complete. Writes all of them at the start, when Redis comes back, when it has lost them
 * (checked every 0.5 s), when `publishAgain` is called, and every 10 to 12 minutes (at random, so that processes do not
 * all write at once). A failed attempt is repeated after 0.5 to 5 s.
 */
export function keepPublished({ db, redis, keys, logger }: Deps): {
  publishAgain(): void
  close(): Promise<void>
} {
  const oldestMs = copyEveryMs * (1 + Math.random() / 5)
  const next = { isDue: true, isWantedAgain: false, backoffMs: 0, retryAtMs: 0 }

  const check = async () => {
    if (redis.status !== 'ready' || performance.now() < next.retryAtMs) return
    const copiedAt = Number((await redis.get(keys.apiKeysCopied)) ?? 0)
    if (!next.isDue && !next.isWantedAgain && Date.now() - copiedAt < oldestMs) return
    next.isDue = false
    next.isWantedAgain = false
    try {
      // Already due again: Redis went away and came back meanwhile.
      const count = await publishKeys(db, redis, keys, () => next.isDue)
      next.backoffMs = 0
      logger.debug({ keys: count }, 'copies of the API keys written to Redis')
    } catch (error) {
      next.isDue = true
      next.backoffMs = Math.min(Math.max(checkEveryMs, 2 * next.backoffMs), maxBackoffMs)
      next.retryAtMs = performance.now() + next.backoffMs
      throw error
    }
  }
  const checks = openInterval(checkEveryMs, check, error =>
    logger.debug({ err: error }, 'copies of the API keys not written; trying again'),
  )
  const onReady = () => {
    next.isDue = true
    next.retryAtMs = 0
    void checks.run()
  }

  redis.on('ready', onReady)
  void checks.run()
  return {
    publishAgain() {
      next.isWantedAgain = true
    },
    async close() {
      redis.off('ready', onReady)
      await checks.stop()
    },
  }
}
