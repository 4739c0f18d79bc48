import { ApiKeyError, copyKey, createKey, type NewKey } from '@tally/access'
import type { Postgres } from '@tally/platform'
import { allKeys, type WholeRedis } from '../servers/redis.ts'
import { until } from '../until.ts'

type Place = { db: Postgres; redis: WholeRedis; redisPrefix: string }

/** Makes a key, with all scopes by default, as `tally keys create` does, and returns its token. */
export async function makeToken(
  { db, redis, redisPrefix }: Place,
  organizationId: string,
  over: Partial<NewKey> = {},
): Promise<string> {
  const scopes: NewKey['scopes'] = ['events:read', 'analytics:read', 'orders:read']
  const wanted = { organizationId, name: 'test', scopes, eventId: null, expiresAt: null, ...over }
  const { stored, token } = await createKey(db, wanted as NewKey)
  await copyKey(redis, allKeys(redisPrefix), stored)
  return token
}

/** The same as soon as the projector has stored the organization; `check` may throw while that is awaited. */
export async function tokenOnceKnown(
  place: Place,
  organizationId: string,
  check = () => {},
): Promise<string> {
  let token = ''
  await until(`organization ${organizationId} is known`, async () => {
    check()
    token = await makeToken(place, organizationId).catch(error => {
      if (error instanceof ApiKeyError) return ''
      throw error
    })
    return token !== ''
  })
  return token
}
