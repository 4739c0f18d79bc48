import { copyKey, type StoredKey } from '@tally/access'
import type { AdminDeps } from '../deps.ts'

/**
 * Copies keys that were just created or ended to Redis, where they are needed if Postgres goes down. A Redis that is
 * down is not a failure: Postgres has the keys, and a query process writes the copies later.
 */
export function copySoon({ redis, keys, logger }: AdminDeps, ...stored: StoredKey[]): void {
  for (const one of stored)
    copyKey(redis, keys, one).catch(error =>
      logger.debug({ err: error, keyId: one.key.keyId }, 'the copy of an API key follows later'),
    )
}
