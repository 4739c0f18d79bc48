import {
  type AccessKeys,
  type AccessRedis,
  type ApiKey,
  findKeys,
  type KeyRequests,
  readRequests,
  refusedStatuses,
  type StoredKey,
} from '@tally/access'
import type { OrganizationStatus } from '@tally/contract'
import { readOrganizationHead } from '@tally/figures'
import type { Postgres, RateLimits } from '@tally/platform'
import type { Session } from '../signIn/sessions.ts'

/** The organization's window of the rate limit right now. */
export type Window = { status: OrganizationStatus; limit: number; used: number; endsInMs: number }

/** A key, which may no longer exist, with the number of its requests by HTTP status. */
export type KeyUsage = {
  keyId: string
  key: ApiKey | undefined
  hour: Map<number, number>
  day: Map<number, number>
}

export type Usage = { keys: KeyUsage[]; window: Window; byHour: KeyRequests['byHour'] }

type Parts = { db: Postgres; redis: AccessRedis; keys: AccessKeys; rateLimits: RateLimits }

/** The requests of the organization's keys in the last day; undefined if Redis, which counts them, does not answer. */
export async function readUsage(
  { db, redis, keys, rateLimits }: Parts,
  { organizationId }: Session,
): Promise<Usage | undefined> {
  const head = await readOrganizationHead(db, organizationId)
  const status = head?.status ?? 'Trial'
  const counts = await Promise.all([
    readRequests(redis, keys, organizationId, Date.now()),
    redis.get(keys.window(organizationId)),
    redis.pttl(keys.window(organizationId)),
  ]).catch(() => undefined)
  if (counts === undefined) return undefined
  const [requests, used, left] = counts
  const window = { status, limit: rateLimits[status], used: Number(used ?? 0), endsInMs: Math.max(0, left) }
  const known = await findKeys(db, [...requests.day.keys()])
  return { window, keys: byKey(requests, known), byHour: requests.byHour }
}

/** The requests of one key in the last day, by status; undefined if Redis does not answer. */
export const readKeyDay = (
  { redis, keys }: Pick<Parts, 'redis' | 'keys'>,
  { keyId, organizationId }: ApiKey,
): Promise<Map<number, number> | undefined> =>
  readRequests(redis, keys, organizationId, Date.now()).then(
    ({ day }) => day.get(keyId) ?? new Map(),
    () => undefined,
  )

/** Keys with requests, those with most in the last day first. */
function byKey({ hour, day }: KeyRequests, known: Map<string, StoredKey>): KeyUsage[] {
  const none = new Map<number, number>()
  return [...day.keys()]
    .map(keyId => ({
      keyId,
      key: known.get(keyId)?.key,
      hour: hour.get(keyId) ?? none,
      day: day.get(keyId) ?? none,
    }))
    .toSorted((one, other) => sum(other.day) - sum(one.day))
}

export const sum = (counts: Map<number, number>): number =>
  [...counts.values()].reduce((all, count) => all + count, 0)

/** Refused requests by reason. */
export const refusedOf = (counts: Map<number, number>) =>
  refusedStatuses.map(status => ({ status, requests: counts.get(status) ?? 0 }))
