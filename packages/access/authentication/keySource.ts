import type { Postgres } from '@tally/storage'
import { LRUCache } from 'lru-cache'
import { copyKey, formatCopy, readCopies } from '../copies/redisCopy.ts'
import type { StoredKey } from '../keys/apiKey.ts'
import { findKeys } from '../keys/store.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'

/** Neither Postgres nor Redis can tell whose a token is: the answer is a 503, not a 401. */
export class AuthenticationUnavailable extends Error {
  override readonly name = 'AuthenticationUnavailable'
  constructor(cause: unknown) {
    super('neither Postgres nor Redis can tell whose this key is', { cause })
  }
}

/** The part of a logger that this package needs. */
export type Log = Record<'debug' | 'info' | 'warn', (fields: object, sentence: string) => void>

/** What was found of some keys (a key that is not in it is unknown), and when it was asked for (performance.now). */
export type Found = { keys: Map<string, StoredKey>; askedMs: number; from: 'postgres' | 'redis' }

export type KeySource = {
  /** Looks keys up; rejects with AuthenticationUnavailable. */
  read(keyIds: string[]): Promise<Found>
  /** Copies records to Redis, for when Postgres does not answer. */
  copy(found: Iterable<StoredKey>): void
  /** Is called each time that Postgres answers again. */
  onRecovery(listener: () => void): void
}

/** A look-up that takes longer counts as failed. */
const patienceMs = 300
/** How long where Redis cannot tell either: better a slow answer than a 503. */
const lastPatienceMs = 2_000
/** Between two attempts while Postgres is down. */
const probeEveryMs = 500
/** Look-ups that Postgres still owes an answer to; no more are asked, so that a pool is not eaten up by them. */
const maxUnanswered = 3
const copyAgainAfterMs = 60_000

/**
 * Postgres, and while it does not answer, the copies in Redis. After a failure Redis answers at once, without
 * waiting for Postgres; every 0.5 s one look-up goes to Postgres too, and the first that it answers in time ends
 * that. What Postgres says is copied to Redis when changed, and at least once a minute while it is looked up.
 */
export function openKeySource({
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
  let isDown = false
  let probeAtMs = 0
  let unanswered = 0
  let onRecovery = () => {}

  async function askPostgres(keyIds: string[], patience = patienceMs): Promise<Found> {
    if (unanswered >= maxUnanswered) throw new Error('Postgres still owes answers')
    const askedMs = performance.now()
    probeAtMs = askedMs + probeEveryMs
    unanswered++
    const answer = findKeys(db, keyIds).finally(() => unanswered--)
    try {
      const found = await within(patience, answer)
      recovered()
      copyNews(found.values())
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
    if (!isDown) logger.warn({ err: error }, 'Postgres does not answer; API keys are looked up in Redis')
    isDown = true
  }

  function recovered(): void {
    if (!isDown) return
    isDown = false
    logger.info({}, 'Postgres answers again; API keys are looked up there')
    onRecovery()
  }

  /** Best effort: a copy that was not written is written with the next look-up, or by publish.ts. */
  function copyNews(found: Iterable<StoredKey>): void {
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
      const wasDown = isDown
      if (!wasDown) {
        const found = await askPostgres(keyIds).catch(() => undefined)
        if (found !== undefined) return found
      } else if (performance.now() >= probeAtMs) {
        askPostgres(keyIds).catch(() => {})
      }
      try {
        return await askRedis(keyIds)
      } catch {
        // Nobody else can tell: Postgres may only be slow.
        return askPostgres(keyIds, lastPatienceMs).catch(error => {
          throw new AuthenticationUnavailable(error)
        })
      }
    },
    copy: copyNews,
    onRecovery(listener) {
      onRecovery = listener
    },
  }
}

async function within<T>(patience: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
