import { LRUCache } from 'lru-cache'
import type { StoredKey } from '../keys/apiKey.ts'

/** About 200 bytes each. */
const maxVerified = 20_000

type Verified = { keyId: string; stored: StoredKey }

/**
 * Tokens that were right, each with the record that its secret was compared with. A token is right again as long as
 * `current` finds that same record (by identity: any change of the key is another record), so that a device that polls
 * is not hashed again: parsing and hashing took 3 µs of each request. Wrong tokens are not kept.
 */
export function openVerified(current: (keyId: string) => StoredKey | undefined) {
  const verified = new LRUCache<string, Verified>({ max: maxVerified })
  return {
    /** The current record of the token's key; undefined if the token has to be checked. */
    recall(token: string): StoredKey | undefined {
      const known = verified.get(token)
      if (known === undefined || current(known.keyId) !== known.stored) return undefined
      return known.stored
    },
    keep: (token: string, stored: StoredKey): void =>
      void verified.set(token, { keyId: stored.key.keyId, stored }),
  }
}
