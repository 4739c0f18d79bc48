import type { EventId, OrganizationId, Scope } from '@tally/contract'
import { type Database, lockName, type Postgres, type Tx } from '@tally/platform'
import { type Selectable, sql } from 'kysely'
import { refusalIfUnknown } from '../knownOrganization.ts'
import {
  type ApiKey,
  ApiKeyError,
  hashSecret,
  makeToken,
  type StoredKey,
  TooManyKeysError,
} from './apiKey.ts'

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

/** Keys of an organization that work at the same time: more than a festival has devices. */
export const mostActiveKeys = 200
/** Keys that an organization makes in 24 hours; it bounds the counts of requests, which are kept by key for a day. */
export const mostKeysADay = 1_000

/**
 * Throws TooManyKeysError if an organization may not have one more key. Whoever else makes a key for it waits until
 * this transaction ends, so that two do not take the last place.
 */
async function requireRoom(tx: Tx, organizationId: OrganizationId): Promise<void> {
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
