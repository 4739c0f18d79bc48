import { timingSafeEqual } from 'node:crypto'
import { type Logger, openInterval, type Postgres } from '@tally/platform'
import { LRUCache } from 'lru-cache'
import { keepPublished } from '../copies/publish.ts'
import { type ApiKey, hashSecret, parseToken, type StoredKey } from '../keys/apiKey.ts'
import { touchKeys } from '../keys/store.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'
import { createKeyCache, followKeys, type KnownKey } from './keyCache.ts'
import { createKeySource } from './keySource.ts'

export type Authenticator = {
  /**
   * The key of a token; undefined if the token is absent, malformed, wrong, expired or revoked. Not a promise if the
   * record is in the cache. Rejects with AuthenticationUnavailable if neither Postgres nor Redis answers.
   */
  authenticate(token: string | undefined): ApiKey | undefined | Promise<ApiKey | undefined>
  /** The key of a token that was right before, with an unchanged record; undefined if `authenticate` has to decide. */
  recall(token: string): KnownKey | undefined
  /** Records that a key was used; Postgres has it within 70 s (docs/api.md, Tokens). With `known` it is cheaper. */
  used(keyId: string, known?: KnownKey): void
  /** Whether `recall` would still return it for the same token, and `used` has recorded it in this minute. */
  isInUse(known: KnownKey): boolean
  /** Writes the recorded uses and stops; the caller closes the database and Redis. */
  close(): Promise<void>
}

type AuthenticatorDeps = {
  db: Postgres
  redis: AccessRedis
  keys: AccessKeys
  logger: Pick<Logger, 'debug'>
  /** Called with a key whose secret was right but which is revoked or expired. */
  onOver?: (key: ApiKey) => void
  /** The time of day in epoch milliseconds, for expiry and use. */
  now?: () => number
}

/** About 200 bytes each. */
const maxVerified = 20_000

/**
 * Finds the key that a token belongs to. Every process knows of a new or revoked key within 1 second (docs/api.md,
 * Tokens): a poll every 0.3 s reads what changed, and a record is used only if the last poll began less than 0.9 s ago.
 */
export function openAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { now = Date.now, onOver = () => {} } = deps
  const source = createKeySource(deps)
  const cache = createKeyCache(source, now)
  const published = keepPublished(deps)
  let hasPolled = false
  const stopFollowing = followKeys({
    db: deps.db,
    logger: deps.logger,
    onChanges: changes => {
      cache.follow(changes)
      // Postgres may have lost keys, and Redis must not answer for those if Postgres goes down. The first poll needs no
      // copying: the copies are being written at the start anyway.
      if (!changes.isContinued && hasPolled) published.publishAgain()
      hasPolled = true
    },
  })
  const usage = openUsage({ ...deps, now })

  /**
   * Tokens that were right, each with what the cache had of its key. A token is right again as long as the cache has
   * the record that its secret was compared with, so that a device that polls is not hashed again: parsing and hashing
   * took 3 µs of each request. Wrong tokens are not kept.
   */
  const verified = new LRUCache<string, KnownKey>({ max: maxVerified })

  const judge = (stored: StoredKey | undefined, secret: string, token: string): ApiKey | undefined => {
    if (stored === undefined || !isHashOf(secret, stored.secretSha256)) return undefined
    if (!isOver(stored.key, now)) {
      const known = cache.held(stored.key.keyId)
      if (known?.stored === stored) verified.set(token, known)
      return stored.key
    }
    onOver(stored.key)
    return undefined
  }

  return {
    authenticate(token) {
      const parsed = token === undefined ? undefined : parseToken(token)
      if (token === undefined || parsed === undefined) return undefined
      const stored = cache.get(parsed.keyId)
      if (stored instanceof Promise) return stored.then(found => judge(found, parsed.secret, token))
      return judge(stored, parsed.secret, token)
    },
    recall(token) {
      const known = verified.get(token)
      return known && cache.isUsable(known) && !isOver(known.stored.key, now) ? known : undefined
    },
    used(keyId, known) {
      // The cache has to see now and then that a recalled key is in use.
      if (usage.note(keyId, known)) cache.held(keyId)
    },
    isInUse: cache.isInUse,
    async close() {
      await Promise.all([stopFollowing(), published.close(), usage.close()])
    },
  }
}

/** In constant time; a hash of another length, from a damaged row, matches no secret. */
function isHashOf(secret: string, stored: Buffer): boolean {
  const given = hashSecret(secret)
  return given.length === stored.length && timingSafeEqual(given, stored)
}

const isOver = ({ revokedAt, expiresAt }: ApiKey, now: () => number): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now())

const minuteMs = 60_000
const flushEveryMs = 10_000

type Deps = { db: Postgres; logger: Pick<Logger, 'debug'>; now: () => number }

/**
 * Collects when keys were used. Every 10 s one statement writes the new minutes, so a use is in Postgres within 70 s
 * (docs/api.md, Tokens). What cannot be written is kept for the next time.
 */
function openUsage({ db, logger, now }: Deps) {
  const written = new Map<string, number>()
  let unwritten = new Map<string, number>()

  const write = async () => {
    const batch = unwritten
    if (batch.size === 0) return
    unwritten = new Map()
    try {
      await touchKeys(db, batch)
      for (const [keyId, minute] of batch) written.set(keyId, minute)
    } catch (error) {
      for (const [keyId, minute] of batch) if (!unwritten.has(keyId)) unwritten.set(keyId, minute)
      throw error
    }
  }
  const flushes = openInterval(flushEveryMs, write, error =>
    logger.debug({ err: error, keys: unwritten.size }, 'last use of API keys not written; trying again'),
  )

  return {
    /**
     * Returns whether the key was not used in this minute before. `known` remembers the end of the minute, so that a
     * key that is used again within it is not looked up.
     */
    note(keyId: string, known?: KnownKey): boolean {
      const nowMs = now()
      const minute = nowMs - (nowMs % minuteMs)
      if (known !== undefined) {
        if (nowMs < known.recordedUntilMs) return false
        known.recordedUntilMs = Math.min(minute + minuteMs, known.stored.key.expiresAt ?? Number.MAX_VALUE)
      }
      if (written.get(keyId) === minute) return false
      unwritten.set(keyId, minute)
      return true
    },
    async close(): Promise<void> {
      await flushes.stop()
      await flushes.run()
    },
  }
}
