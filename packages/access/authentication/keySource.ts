import { type Postgres, timeout } from '@tally/platform'
import { LRUCache } from 'lru-cache'
import { copyKey, formatCopy, readCopies } from '../copies/redisCopy.ts'
import type { StoredKey } from '../keys/apiKey.ts'
import { findKeys } from '../keys/store.ts'
import type { Log } from '../log.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'

/** Neither Postgres nor Redis answers, so a token cannot be checked: the answer is a 503, not a 401. */
export class AuthenticationUnavailable extends Error {
  override readonly name = 'AuthenticationUnavailable'
  constructor(cause: unknown) {
    super('neither Postgres nor Redis answers: the API key cannot be checked', { cause })
  }
}

/** The records of the keys that exist, and when the look-up began (performance.now). */
export type Found = { keys: Map<string, StoredKey>; askedMs: number; from: 'postgres' | 'redis' }

export type KeySource = {
  /** Looks keys up; rejects with AuthenticationUnavailable. */
  read(keyIds: string[]): Promise<Found>
  /** Copies records to Redis, which answers while Postgres does not. */
  copy(found: Iterable<StoredKey>): void
  /** `listener` is called each time Postgres answers again. */
  onRecovery(listener: () => void): void
}

/** A look-up that takes longer counts as failed. */
const timeoutMs = 300
/** The time-out if Redis does not answer either: a slow answer is better than a 503. */
const lastTimeoutMs = 2_000
/** Between two attempts while Postgres is down. */
const probeEveryMs = 500
/** Limits the look-ups that wait for Postgres, so that they do not use up the pool. */
const maxUnanswered = 3
const copyAgainAfterMs = 60_000

/**
 * Looks keys up in Postgres and, while Postgres does not answer, in the copies in Redis. After a failure Redis answers
 * without waiting for Postgres; every 0.5 s one look-up also goes to Postgres, and the first one answered in time ends
 * that. Records from Postgres are copied to Redis when changed, and at least once a minute while they are looked up.
 */
export function createKeySource({
  db,
  redis,
  keys,
  logger,
}: {
  db: Postgres
  redis: AccessRedis
  keys: AccessKeys
  logger: Log
}): KeySource {
  const copied = new LRUCache<string, string>({ max: 20_000, ttl: copyAgainAfterMs })
  const postgres = { isDown: false, probeAtMs: 0, unanswered: 0 }
  let onRecovery = () => {}

  async function askPostgres(keyIds: string[], ms = timeoutMs): Promise<Found> {
    if (postgres.unanswered >= maxUnanswered) throw new Error('too many look-ups wait for Postgres')
    const askedMs = performance.now()
    postgres.probeAtMs = askedMs + probeEveryMs
    postgres.unanswered++
    const answer = findKeys(db, keyIds).finally(() => postgres.unanswered--)
    try {
      const found = await timeout(ms, answer)
      recovered()
      copyChanged(found.values())
      return { keys: found, askedMs, from: 'postgres' }
    } catch (error) {
      failed(error)
      throw error
    }
  }

  async function askRedis(keyIds: string[]): Promise<Found> {
    const askedMs = performance.now()
    return { keys: await readCopies(redis, keys, keyIds), askedMs, from: 'redis' }
  }

  function failed(error: unknown): void {
    if (!postgres.isDown)
      logger.debug({ err: error }, 'Postgres does not answer in time; API keys are looked up in Redis')
    postgres.isDown = true
  }

  function recovered(): void {
    if (!postgres.isDown) return
    postgres.isDown = false
    logger.debug({}, 'Postgres answers again; API keys are looked up there')
    onRecovery()
  }

  /** Best effort: a copy that could not be written is written by the next look-up, or by publish.ts. */
  function copyChanged(found: Iterable<StoredKey>): void {
    for (const stored of found) {
      const { keyId } = stored.key
      const text = formatCopy(stored)
      if (copied.get(keyId) === text) continue
      copied.set(keyId, text)
      copyKey(redis, keys, stored).catch(() => copied.delete(keyId))
    }
  }

  return {
    async read(keyIds) {
      const wasDown = postgres.isDown
      if (!wasDown) {
        const found = await askPostgres(keyIds).catch(() => undefined)
        if (found !== undefined) return found
      } else if (performance.now() >= postgres.probeAtMs) {
        askPostgres(keyIds).catch(() => {})
      }
      try {
        return await askRedis(keyIds)
      } catch {
        // Postgres may only be slow.
        return askPostgres(keyIds, lastTimeoutMs).catch(error => {
          throw new AuthenticationUnavailable(error)
        })
      }
    },
    copy: copyChanged,
    onRecovery(listener) {
      onRecovery = listener
    },
  }
}
