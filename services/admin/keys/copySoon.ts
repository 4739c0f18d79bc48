import { copyKey, type StoredKey } from '@tally/access'
import type { AdminParts } from '../parts.ts'

/**
 * Copies keys that were just made or ended to Redis, so that they hold there at once should Postgres go down. That
 * Redis is down is no failure: Postgres has them, and a query process writes the copies later.
 */
export function copySoon({ redis, keys, logger }: AdminParts, ...stored: StoredKey[]): void {
  for (const one of stored)
    copyKey(redis, keys, one).catch(error =>
      logger.debug({ err: error, keyId: one.key.keyId }, 'the copy of an API key follows later'),
    )
}
