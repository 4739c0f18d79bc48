import { LRUCache } from 'lru-cache'
import type { StoredKey } from '../keys/apiKey.ts'
import type { CachedKey } from './keyCache.ts'

/** About 200 bytes each. */
const maxVerified = 20_000

/**
 * Tokens that were right, each with what the cache had of its key. A token is right again as long as the cache has the
 * record that its secret was compared with, so that a device that polls is not hashed again: parsing and hashing took 3
 * µs of each request. Wrong tokens are not kept.
 */
export function createVerified(cache: {
  held(keyId: string): CachedKey | undefined
  isUsable(cached: CachedKey): boolean
}) {
  const verified = new LRUCache<string, CachedKey>({ max: maxVerified })
  return {
    /** What the cache has of the token's key; undefined if the token has to be checked. */
    recall(token: string): CachedKey | undefined {
      const cached = verified.get(token)
      return cached !== undefined && cache.isUsable(cached) ? cached : undefined
    },
    /** Keeps a token that was compared with this record. */
    keep(token: string, stored: StoredKey): void {
      const cached = cache.held(stored.key.keyId)
      if (cached?.stored === stored) verified.set(token, cached)
    },
  }
}
