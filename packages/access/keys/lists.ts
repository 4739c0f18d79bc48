import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import type { ApiKey } from './apiKey.ts'
import { fromRow, type KeyRow } from './store.ts'

const pageSize = 500

/** All keys of an organization, including revoked and expired ones, oldest first, in pages of at most 500. */
export async function* listKeys(db: Postgres, organizationId: OrganizationId): AsyncGenerator<ApiKey[]> {
  let after = { createdAt: 0, keyId: '' }
  for (;;) {
    const { rows } = await sql<KeyRow>`
select * from api_keys
where organization_id = ${organizationId}
  and (created_at, key_id) > (${new Date(after.createdAt).toISOString()}::timestamptz, ${after.keyId})
order by created_at, key_id
limit ${pageSize}`.execute(db)
    const keys = rows.map(row => fromRow(row).key)
    const last = keys.at(-1)
    if (last === undefined) return
    yield keys
    after = last
  }
}

/** The keys of an organization that work, newest first; at most as many as it may have. */
export async function listActiveKeys(db: Postgres, organizationId: OrganizationId): Promise<ApiKey[]> {
  const { rows } = await sql<KeyRow>`
select * from api_keys
where organization_id = ${organizationId} and revoked_at is null and (expires_at is null or expires_at > now())
order by created_at desc, key_id desc`.execute(db)
  return rows.map(row => fromRow(row).key)
}

/** Revoked and expired keys of an organization, newest first, at most `limit`; those made before the key `before`. */
export async function listEndedKeys(
  db: Postgres,
  organizationId: OrganizationId,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ApiKey[]> {
  const { rows } = await sql<KeyRow>`
select * from api_keys
where organization_id = ${organizationId} and (revoked_at is not null or expires_at <= now())
  and (${before ?? null}::text is null or (created_at, key_id) < (
    select created_at, key_id from api_keys where organization_id = ${organizationId} and key_id = ${before ?? null}))
order by created_at desc, key_id desc
limit ${limit}`.execute(db)
  return rows.map(row => fromRow(row).key)
}
