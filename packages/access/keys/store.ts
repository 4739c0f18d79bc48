import type { EventId, OrganizationId, Scope } from '@tally/contract'
import type { Database, Postgres, Tx } from '@tally/storage'
import { type Selectable, sql } from 'kysely'
import type { ApiKey, StoredKey } from './apiKey.ts'
import { hashSecret, makeToken } from './token.ts'

/** What cannot be done with a key; the message is a sentence for the one who asked. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError'
}

/** What a new key is made of; `expiresAt` in epoch milliseconds. */
export type NewKey = {
  organizationId: OrganizationId
  name: string
  scopes: Scope[]
  eventId: EventId | null
  expiresAt: number | null
}

/** A key that was just made, with its token, which is kept nowhere. */
export type MadeKey = { stored: StoredKey; token: string }

/**
 * Makes a key and returns it with its token. Throws ApiKeyError where the organization is not known yet, or the
 * event is not known or not its own (commands.md, keys create).
 */
export function createKey(db: Postgres, wanted: NewKey): Promise<MadeKey> {
  return db.transaction().execute(tx => createKeyWithin(tx, wanted))
}

/** As createKey, inside a transaction. */
export async function createKeyWithin(tx: Tx, wanted: NewKey): Promise<MadeKey> {
  await requireKnown(tx, wanted)
  return insertKey(tx, wanted)
}

/** Inserts a key that is allowed to be; see createKey. */
export async function insertKey(tx: Tx, wanted: NewKey): Promise<MadeKey> {
  const { keyId, secret, token } = makeToken()
  const row = await tx
    .insertInto('api_keys')
    .values({
      key_id: keyId,
      secret_sha256: hashSecret(secret),
      organization_id: wanted.organizationId,
      name: wanted.name,
      scopes: wanted.scopes,
      event_id: wanted.eventId,
      created_at: new Date().toISOString(),
      expires_at: isoOrNull(wanted.expiresAt),
      revoked_at: null,
      last_used_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { stored: fromRow(row), token }
}

export const isoOrNull = (epochMs: number | null) =>
  epochMs === null ? null : new Date(epochMs).toISOString()

async function requireKnown(db: Postgres, { organizationId, eventId }: NewKey): Promise<void> {
  const organization = await db
    .selectFrom('organizations')
    .select('organization_id')
    .where('organization_id', '=', organizationId)
    .where('version', '>', 0)
    .executeTakeFirst()
  if (organization === undefined)
    throw new ApiKeyError(
      `organization ${organizationId} is not known yet: its record has to come over Kafka first`,
    )
  if (eventId === null) return
  const event = await db
    .selectFrom('events')
    .select('event_id')
    .where('event_id', '=', eventId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (event === undefined)
    throw new ApiKeyError(`event ${eventId} is not known as one of organization ${organizationId}`)
}

/** All keys of an organization, revoked and expired ones too, the oldest first. */
export async function listKeys(db: Postgres, organizationId: OrganizationId): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()
  return rows.map(row => fromRow(row).key)
}

/** Revokes a key; a key that is revoked already keeps its first time. Throws ApiKeyError for an unknown one. */
export async function revokeKey(db: Postgres, keyId: string): Promise<StoredKey> {
  const row = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql`coalesce(revoked_at, ${new Date().toISOString()}::timestamptz)` })
    .where('key_id', '=', keyId)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw new ApiKeyError(`key ${keyId} is not known`)
  return fromRow(row)
}

/** Those of the keys that exist, by key id. */
export async function findKeys(db: Postgres, keyIds: string[]): Promise<Map<string, StoredKey>> {
  const { rows } = await sql<KeyRow>`select * from api_keys where key_id = any(${keyIds})`.execute(db)
  return new Map(rows.map(row => [row.key_id, fromRow(row)]))
}

/**
 * Keys that a copy has to tell of, at most `limit` after the id `after` in the order of their ids: those that are
 * good, and those that were revoked since `revokedSince` (epoch milliseconds).
 */
export async function readKeyPage(
  db: Postgres,
  page: { after: string; limit: number; revokedSince: number },
): Promise<StoredKey[]> {
  const { rows } = await sql<KeyRow>`
select * from api_keys
where key_id > ${page.after}
  and (expires_at is null or expires_at > now())
  and (revoked_at is null or revoked_at > ${new Date(page.revokedSince).toISOString()}::timestamptz)
order by key_id
limit ${page.limit}`.execute(db)
  return rows.map(fromRow)
}

const minuteMs = 60_000

/**
 * Notes when keys were last used: epoch milliseconds by key id, cut to the minute here; an earlier minute
 * changes nothing. Rows are locked in the order of their ids, so that two processes never wait for each other.
 */
export async function touchKeys(db: Postgres, lastUsed: ReadonlyMap<string, number>): Promise<void> {
  if (lastUsed.size === 0) return
  const minutes = [...lastUsed.values()].map(ms => new Date(ms - (ms % minuteMs)).toISOString())
  await sql`
update api_keys set last_used_at = due.minute
from (
  select key_id, used.minute
  from unnest(${[...lastUsed.keys()]}::text[], ${minutes}::timestamptz[]) as used (id, minute)
  join api_keys on key_id = used.id
  where last_used_at is null or last_used_at < used.minute
  order by key_id
  for update of api_keys
) as due
where api_keys.key_id = due.key_id`.execute(db)
}

export type KeyRow = Selectable<Database['api_keys']>

export function fromRow(row: KeyRow): StoredKey {
  return {
    secretSha256: row.secret_sha256,
    key: {
      keyId: row.key_id,
      organizationId: row.organization_id as OrganizationId,
      name: row.name,
      scopes: row.scopes,
      eventId: row.event_id as EventId | null,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      lastUsedAt: row.last_used_at,
    },
  }
}
