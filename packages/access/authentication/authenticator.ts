import { timingSafeEqual } from 'node:crypto'
import type { Postgres } from '@tally/platform'
import { keepPublished } from '../copies/publish.ts'
import type { ApiKey, StoredKey } from '../keys/apiKey.ts'
import { hashSecret, parseToken } from '../keys/token.ts'
import type { Log } from '../log.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'
import { type CachedKey, createKeyCache } from './keyCache.ts'
import { followKeys } from './keyChanges.ts'
import { createKeySource } from './keySource.ts'
import { openUsage } from './usage.ts'
import { createVerified } from './verified.ts'

export type Authenticator = {
  /**
   * The key of a token; undefined if the token is absent, malformed, wrong, expired or revoked. Not a promise if the
   * record is in the cache. Rejects with AuthenticationUnavailable if neither Postgres nor Redis answers.
   */
  authenticate(token: string | undefined): ApiKey | undefined | Promise<ApiKey | undefined>
  /**
   * The key of a token that was right before and whose record has not changed since; undefined if `authenticate` has to
   * decide. `last` is what this returned for the same token: while it is usable, `token` is not looked up, so the
   * caller has to have compared the tokens.
   */
  recall(token: string, last?: KnownKey): KnownKey | undefined
  /** Records that a key was used; Postgres has it within 70 s (docs/api.md, Tokens). With `known` it is cheaper. */
  used(keyId: string, known?: KnownKey): void
  /** Writes the recorded uses and stops; the caller closes the database and Redis. */
  close(): Promise<void>
}

/** A key whose token was right, as the cache has it. */
export type KnownKey = CachedKey

export type AuthenticatorDeps = {
  db: Postgres
  redis: AccessRedis
  keys: AccessKeys
  logger: Log
  /** Called with a key whose secret was right but which is revoked or expired. */
  onOver?: (key: ApiKey) => void
  /** The time of day in epoch milliseconds, for expiry and use. */
  now?: () => number
}

/**
 * Finds the key that a token belongs to. Every process knows of a new or revoked key within 1 second (docs/api.md,
 * Tokens): a poll every 0.3 s reads what changed, and a record is used only if the last poll began less than 0.9 s ago.
 */
export function openAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { now = Date.now, onOver = () => {} } = deps
  const source = createKeySource(deps)
  const cache = createKeyCache(source)
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

  const verified = createVerified(cache)

  const judge = (stored: StoredKey | undefined, secret: string, token: string): ApiKey | undefined => {
    if (stored === undefined || !isHashOf(secret, stored.secretSha256)) return undefined
    if (!isOver(stored.key, now())) {
      verified.keep(token, stored)
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
    recall(token, last) {
      const known = last !== undefined && cache.isUsable(last) ? last : verified.recall(token)
      return known === undefined || isOver(known.stored.key, now()) ? undefined : known
    },
    used(keyId, known) {
      // The cache has to see now and then that a recalled key is in use.
      if (usage.note(keyId, known)) cache.held(keyId)
    },
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

const isOver = ({ revokedAt, expiresAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= nowMs)
