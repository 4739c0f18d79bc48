import { randomUUID } from 'node:crypto'
import type { Postgres } from '@tally/storage'
import type { Log } from '../authentication/keySource.ts'
import { readKeyPage } from '../keys/store.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'
import { copyKey, copyLifeSeconds } from './redisCopy.ts'

/** Small enough that a page of copies is written well within a command's time-out. */
const pageSize = 200
/** Longer than a copy lives: no older copy that says "good" is left over. */
const revokedWithinMs = (copyLifeSeconds + 24 * 3600) * 1000

/** The mark that all copies are there is forgotten before the first of them. */
const markLifeSeconds = copyLifeSeconds - 3600

/**
 * Writes a copy of every good or lately revoked key to Redis, page by page, and then says that all are there; returns how
 * many. Throws, and does not say so, where Redis lost data meanwhile, or may have (`mayHaveLost`).
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
        markLifeSeconds,
        round,
      )
  if (reply === 'lost') throw new Error('Redis lost copies of the API keys while they were written')
  return count
}

/** How soon after Redis has lost the copies they are written again: if Postgres dies before, nobody can tell whose a key is. */
const lookEveryMs = 500
const longestRestMs = 5_000
const copyEveryMs = 10 * 60_000

type Parts = { db: Postgres; redis: AccessRedis; keys: AccessKeys; logger: Log }

/**
 * Keeps the copies in Redis whole: writes all of them at the start, whenever Redis comes back, when it lost them
 * (looked at every 0.5 s), when `publishAgain` is called, and every 10 minutes or, so that not all processes do it at once,
 * somewhat later. What fails is tried again after 0.5 to 5 s.
 */
export function keepPublished({ db, redis, keys, logger }: Parts): {
  publishAgain(): void
  close(): Promise<void>
} {
  const oldestMs = copyEveryMs * (1 + Math.random() / 5)
  let isDue = true
  let isWantedAgain = false
  let restMs = 0
  let restsUntil = 0
  let running: Promise<void> | undefined

  const look = async () => {
    if (redis.status !== 'ready' || performance.now() < restsUntil) return
    const copiedAt = Number((await redis.get(keys.apiKeysCopied)) ?? 0)
    if (!isDue && !isWantedAgain && Date.now() - copiedAt < oldestMs) return
    isDue = false
    isWantedAgain = false
    try {
      // Due again already: Redis went and came back meanwhile.
      const count = await publishKeys(db, redis, keys, () => isDue)
      restMs = 0
      logger.debug({ keys: count }, 'copies of the API keys written to Redis')
    } catch (error) {
      isDue = true
      restMs = Math.min(Math.max(lookEveryMs, 2 * restMs), longestRestMs)
      restsUntil = performance.now() + restMs
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
    restsUntil = 0
    run()
  }

  const timer = setInterval(run, lookEveryMs)
  redis.on('ready', onReady)
  run()
  return {
    publishAgain() {
      isWantedAgain = true
    },
    async close() {
      clearInterval(timer)
      redis.off('ready', onReady)
      await running
    },
  }
}
