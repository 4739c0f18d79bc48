import type { OrganizationId } from '@tally/contract'
import { lockName, type Tx } from '@tally/platform'
import { sql } from 'kysely'
import { TooManyKeysError } from './apiKey.ts'

/** Keys of an organization that work at the same time: more than a festival has devices. */
export const mostActiveKeys = 200
/** Keys that an organization makes in 24 hours; it bounds the counts of requests, which are kept by key for a day. */
export const mostKeysADay = 1_000

/**
 * Throws TooManyKeysError if an organization may not have one more key. Whoever else makes a key for it waits until
 * this transaction ends, so that two do not take the last place.
 */
export async function requireRoom(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await lockName(tx, `tally keys of ${organizationId}`)
  const { rows } = await sql<{ active: number; today: number }>`
select
  count(*) filter (where revoked_at is null and (expires_at is null or expires_at > clock_timestamp()))::int as active,
  count(*) filter (where created_at > clock_timestamp() - interval '1 day')::int as today
from api_keys
where organization_id = ${organizationId}`.execute(tx)
  const { active = 0, today = 0 } = rows[0] ?? {}
  if (active >= mostActiveKeys)
    throw new TooManyKeysError(
      `the organization has ${active} active keys, the most allowed: revoke one first`,
    )
  if (today >= mostKeysADay)
    throw new TooManyKeysError(
      `the organization made ${today} keys in 24 hours, the most allowed: try again later`,
    )
}
