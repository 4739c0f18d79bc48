import { type Logger, type Postgres, timeout } from '@tally/platform'
import { LRUCache } from 'lru-cache'
import { copyKey, formatCopy, readCopies } from '../copies/redisCopy.ts'
import type { StoredKey } from '../keys/apiKey.ts'
import { findKeys } from '../keys/store.ts'
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
  logger: Pick<Logger, 'debug'>
}): KeySource {
  const copied = new LRUCache<string, string>({ max: 20_000, ttl: copyAgainAfterMs })
  const postgres = { isDown: false, probeAtMs: 0, unanswered: 0 }

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
      if (!postgres.isDown) {
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
  }
}

const maxBatch = 1_000
const maxBatchesAtOnce = 2

type Waiting = {
  /** A poll has reported a change of the key since the look-up was requested. */
  isOvertaken: boolean
  promise: Promise<StoredKey | undefined>
  resolve: (stored: StoredKey | undefined) => void
  reject: (error: unknown) => void
}

type LookUps = {
  /** Looks a key up; requests for an id that is already being looked up share the answer. */
  request(keyId: string, isUrgent: boolean): Promise<StoredKey | undefined>
  isPending(keyId: string): boolean
  /** Marks what a pending look-up will find as possibly older than what a poll has just reported. */
  overtake(keyId: string): void
}

/**
 * Coalesces look-ups: an id is read once however many requests wait for it, and all ids requested in one iteration of
 * the event loop form one batch, urgent ids first. At most two batches are in progress; further ids wait for the next
 * one. `keep` stores what was found of an id and returns the record that the waiting requests get.
 */
export function createLookUps(
  source: Pick<KeySource, 'read'>,
  keep: (keyId: string, found: Found, isOvertaken: boolean) => StoredKey | undefined,
): LookUps {
  const pending = new Map<string, Waiting>()
  const urgent = new Set<string>()
  const ordinary = new Set<string>()
  let batches = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || batches >= maxBatchesAtOnce || urgent.size + ordinary.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void readBatch(takeBatch()).finally(schedule)
      schedule()
    })
  }

  function takeBatch(): string[] {
    const batch: string[] = []
    for (const queue of [urgent, ordinary]) {
      for (const keyId of queue) {
        if (batch.length === maxBatch) return batch
        queue.delete(keyId)
        batch.push(keyId)
      }
    }
    return batch
  }

  async function readBatch(keyIds: string[]): Promise<void> {
    batches++
    try {
      const found = await source.read(keyIds)
      for (const keyId of keyIds) {
        const stored = keep(keyId, found, pending.get(keyId)?.isOvertaken === true)
        take(keyId)?.resolve(stored)
      }
    } catch (error) {
      for (const keyId of keyIds) take(keyId)?.reject(error)
    } finally {
      batches--
    }
  }

  function take(keyId: string): Waiting | undefined {
    const waiting = pending.get(keyId)
    pending.delete(keyId)
    return waiting
  }

  return {
    request(keyId, isUrgent) {
      const waiting = pending.get(keyId)
      if (waiting !== undefined) return waiting.promise
      const deferred = Promise.withResolvers<StoredKey | undefined>()
      pending.set(keyId, { ...deferred, isOvertaken: false })
      const queue = isUrgent ? urgent : ordinary
      queue.add(keyId)
      schedule()
      return deferred.promise
    },
    isPending: keyId => pending.has(keyId),
    overtake(keyId) {
      const waiting = pending.get(keyId)
      if (waiting !== undefined) waiting.isOvertaken = true
    },
  }
}
