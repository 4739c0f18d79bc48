import type { OrganizationId } from '@tally/contract'
import type { Postgres, Tx } from '@tally/platform'
import { type ApiKey, ApiKeyError, type StoredKey } from './apiKey.ts'
import { fromRow, insertKey, isoOrNull, type MadeKey, revokeKey } from './store.ts'

/** One key of an organization; undefined if it does not exist or belongs to another organization. */
export async function findKeyOf(
  db: Postgres,
  organizationId: OrganizationId,
  keyId: string,
): Promise<ApiKey | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('key_id', '=', keyId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row && fromRow(row).key
}

/** Like revokeKey, for the organization's own keys only; `changed` is false if the key was revoked before. */
export async function revokeKeyWithin(
  tx: Tx,
  organizationId: OrganizationId,
  keyId: string,
): Promise<{ stored: StoredKey; changed: boolean }> {
  const { key } = await lockKeyOf(tx, organizationId, keyId)
  return { stored: await revokeKey(tx, keyId), changed: key.revokedAt === null }
}

/**
 * Creates a key like this one with a new id and token, and ends the old one: at once or in `oldValidForMs`, but never
 * later than it would have expired. Throws ApiKeyError if the key is not the organization's, is revoked or expired, was
 * rotated before (its expiry is the end of that time now, which a successor would inherit), or the organization has too
 * many keys. The caller notes the rotation in the audit trail, in the same transaction.
 */
export async function rotateKeyWithin(
  tx: Tx,
  {
    organizationId,
    keyId,
    oldValidForMs,
  }: { organizationId: OrganizationId; keyId: string; oldValidForMs: number },
): Promise<{ old: StoredKey; made: MadeKey }> {
  const { key } = await lockKeyOf(tx, organizationId, keyId)
  const now = Date.now()
  if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now))
    throw new ApiKeyError(`key ${keyId} is revoked or expired: make a new one`)
  if (await rotationOf(tx, organizationId, keyId))
    throw new ApiKeyError(`key ${keyId} was rotated before: rotate its successor`)
  if (oldValidForMs === 0) {
    const old = await revokeKey(tx, keyId)
    return { old, made: await insertKey(tx, key) }
  }
  const made = await insertKey(tx, key)
  const endsAt = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, now + oldValidForMs)
  const row = await tx
    .updateTable('api_keys')
    .set({ expires_at: isoOrNull(endsAt) })
    .where('key_id', '=', keyId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { old: fromRow(row), made }
}

/** The rotation of a key in the audit trail, which no role can change; undefined if there is none. */
const rotationOf = (tx: Tx, organizationId: OrganizationId, keyId: string) =>
  tx
    .selectFrom('audit_entries')
    .select('action')
    .where('organization_id', '=', organizationId)
    .where('action', '=', 'key-rotated')
    .where('subject', '=', keyId)
    .executeTakeFirst()

async function lockKeyOf(tx: Tx, organizationId: OrganizationId, keyId: string): Promise<StoredKey> {
  const row = await tx
    .selectFrom('api_keys')
    .selectAll()
    .where('key_id', '=', keyId)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw new ApiKeyError(`key ${keyId} is not known`)
  return fromRow(row)
}
