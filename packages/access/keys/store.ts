import type { EventId, OrganizationId, Scope } from '@tally/contract'
import type { Database, Postgres, Tx } from '@tally/platform'
import { type Selectable, sql } from 'kysely'
import { refusalIfUnknown } from '../knownOrganization.ts'
import { ApiKeyError, type StoredKey } from './apiKey.ts'
import { requireRoom } from './room.ts'
import { hashSecret, makeToken } from './token.ts'

/** The fields of a new key; `expiresAt` in epoch milliseconds. */
export type NewKey = {
  organizationId: OrganizationId
  name: string
  scopes: Scope[]
  eventId: EventId | null
  expiresAt: number | null
}

/** A key that was just created, with its token, which is not stored. */
export type MadeKey = { stored: StoredKey; token: string }

/**
 * Creates a key and returns it with its token. Throws ApiKeyError if the organization is not known yet, or the event is
 * not known as one of that organization, or the organization has too many keys.
 */
export function createKey(db: Postgres, wanted: NewKey): Promise<MadeKey> {
  return db.transaction().execute(tx => createKeyWithin(tx, wanted))
}

/** Like createKey, inside a transaction. */
export async function createKeyWithin(tx: Tx, wanted: NewKey): Promise<MadeKey> {
  await requireKnown(tx, wanted)
  return insertKey(tx, wanted)
}

/** Inserts a key if the organization has room for one more, without createKey's other checks. */
export async function insertKey(tx: Tx, wanted: NewKey): Promise<MadeKey> {
  await requireRoom(tx, wanted.organizationId)
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
  const refusal = await refusalIfUnknown(db, organizationId)
  if (refusal !== undefined) throw new ApiKeyError(refusal)
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

/** Revokes a key; one that is already revoked keeps its time. Throws ApiKeyError if the key is unknown. */
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
 * The keys that need a copy, by id, at most `limit` with ids above `after`: valid ones, and those revoked since
 * `revokedSince` (epoch milliseconds).
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
 * Stores when keys were last used (epoch milliseconds by key id, rounded down to the minute here); an earlier minute
 * changes nothing. Rows are locked in the order of their ids, so that two processes cannot deadlock.
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
