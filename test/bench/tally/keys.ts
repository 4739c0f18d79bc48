import { setTimeout as sleep } from 'node:timers/promises'
import { copyKey, createKey } from '@tally/access'
import type { Postgres } from '@tally/platform'
import { allKeys, type WholeRedis } from '@tally/testkit/servers/redis'

const knownTimeoutMs = 60_000
const lookEveryMs = 20

/**
 * Makes a key with all scopes for each organization, as soon as the projector has stored it in Postgres, as `tally keys
 * create` does. Returns the tokens by organization; throws when one is not known in a minute.
 */
export async function makeKeys(
  { db, redis, redisPrefix }: { db: Postgres; redis: WholeRedis; redisPrefix: string },
  organizationIds: string[],
  throwIfGone: () => void,
): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  const until = Date.now() + knownTimeoutMs
  for (const organizationId of new Set(organizationIds)) {
    const scopes = ['events:read', 'analytics:read', 'orders:read']
    const wanted = { organizationId, name: 'bench', scopes, eventId: null, expiresAt: null }
    while (!tokens.has(organizationId)) {
      throwIfGone()
      try {
        const { stored, token } = await createKey(db, wanted as Parameters<typeof createKey>[1])
        await copyKey(redis, allKeys(redisPrefix), stored)
        tokens.set(organizationId, token)
      } catch (error) {
        if (Date.now() > until) throw error
        await sleep(lookEveryMs)
      }
    }
  }
  return tokens
}
