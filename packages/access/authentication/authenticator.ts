import { timingSafeEqual } from 'node:crypto'
import type { Postgres } from '@tally/storage'
import { keepPublished } from '../copies/publish.ts'
import type { ApiKey, StoredKey } from '../keys/apiKey.ts'
import { hashSecret, parseToken } from '../keys/token.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'
import { openKeyCache } from './keyCache.ts'
import { followKeys } from './keyChanges.ts'
import { type Log, openKeySource } from './keySource.ts'
import { openUsage } from './usage.ts'

export type Authenticator = {
  /**
   * The key of a token, or undefined where the token is absent, malformed, wrong, expired or revoked; not a
   * promise when the process has the record at hand. Throws (or rejects with) AuthenticationUnavailable when
   * neither Postgres nor Redis can tell.
   */
  authenticate(token: string | undefined): ApiKey | undefined | Promise<ApiKey | undefined>
  /** Notes that a key was used; written to Postgres within 70 s (decisions.md, Tokens). */
  used(keyId: string): void
  /** Writes what was noted and stops; the database and Redis stay open. */
  close(): Promise<void>
}

export type AuthenticatorDeps = {
  db: Postgres
  redis: AccessRedis
  keys: AccessKeys
  logger: Log
  /** Hears of a key that was sent with its secret but is revoked or expired. */
  onOver?: (key: ApiKey) => void
  /** The time of day in epoch milliseconds, for expiry and use. */
  now?: () => number
}

/**
 * Opens what tells whose a token is. Every process knows of a new or revoked key within 1 second (decisions.md,
 * Tokens): a poll every 0.3 s reads what changed, and a record is used only while the last poll began less than 0.9 s
 * ago.
 */
export function openAuthenticator(parts: AuthenticatorDeps): Authenticator {
  const { now = Date.now, onOver = () => {} } = parts
  const source = openKeySource(parts)
  const cache = openKeyCache(source)
  const published = keepPublished(parts)
  let hasPolled = false
  const stopFollowing = followKeys({
    db: parts.db,
    logger: parts.logger,
    onChanges: changes => {
      cache.follow(changes)
      // Keys may be gone from Postgres: Redis must not answer for them should Postgres go down. Not after the first poll:
      // the copies are being written anyway.
      if (!changes.isContinued && hasPolled) published.publishAgain()
      hasPolled = true
    },
  })
  const usage = openUsage({ ...parts, now })

  const judge = (stored: StoredKey | undefined, secret: string): ApiKey | undefined => {
    if (stored === undefined || !timingSafeEqual(hashSecret(secret), stored.secretSha256)) return undefined
    if (!isOver(stored.key, now())) return stored.key
    onOver(stored.key)
    return undefined
  }

  return {
    authenticate(token) {
      const parsed = token === undefined ? undefined : parseToken(token)
      if (parsed === undefined) return undefined
      const stored = cache.get(parsed.keyId)
      if (stored instanceof Promise) return stored.then(found => judge(found, parsed.secret))
      return judge(stored, parsed.secret)
    },
    used: usage.note,
    async close() {
      await Promise.all([stopFollowing(), published.close(), usage.close()])
    },
  }
}

const isOver = ({ revokedAt, expiresAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= nowMs)
