import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'
import { z } from 'zod'

/** Passkeys of one administrator. */
export const mostPasskeys = 20

/** How a browser reaches an authenticator; other ways that it names are left out. */
const transport = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])
export const transports = z
  .array(z.unknown())
  .catch([])
  .transform(named => [...new Set(named.flatMap(one => transport.safeParse(one).data ?? []))])

/** What a signature is verified with. */
export type NewPasskey = {
  id: string
  publicKey: Uint8Array<ArrayBuffer>
  counter: number
  transports: z.infer<typeof transports>
}
export type KnownPasskey = NewPasskey & { passkeyId: number }

/** An administrator's passkeys, to verify signatures. */
export async function readKnownPasskeys(db: Postgres | Tx, administratorId: string): Promise<KnownPasskey[]> {
  const { rows } = await sql<Omit<KnownPasskey, 'publicKey'> & { publicKey: Buffer }>`
select passkey_id as "passkeyId", credential_id as id, public_key as "publicKey", counter, transports
from passkeys where administrator_id = ${administratorId}`.execute(db)
  return rows.map(({ publicKey, ...row }) => ({ ...row, publicKey: new Uint8Array(publicKey) }))
}

/** A passkey in the list of an administrator's own. */
export type ListedPasskey = { passkeyId: number; name: string; createdAt: number; lastUsedAt: number | null }

export async function listPasskeys(db: Postgres, administratorId: string): Promise<ListedPasskey[]> {
  const { rows } = await sql<ListedPasskey>`
select passkey_id as "passkeyId", name, created_at as "createdAt", last_used_at as "lastUsedAt"
from passkeys where administrator_id = ${administratorId} order by passkey_id`.execute(db)
  return rows
}

/** Stores a passkey; returns false if the administrator has as many as allowed. */
export async function addPasskey(
  tx: Tx,
  administratorId: string,
  name: string,
  made: NewPasskey,
): Promise<boolean> {
  // Of two that are added at once, the second one counts the first.
  await sql`select from administrators where administrator_id = ${administratorId} for update`.execute(tx)
  if ((await readKnownPasskeys(tx, administratorId)).length >= mostPasskeys) return false
  await sql`
insert into passkeys (administrator_id, credential_id, public_key, counter, transports, name)
values (
  ${administratorId}, ${made.id}, ${Buffer.from(made.publicKey)}, ${made.counter}, ${made.transports}, ${name}
)`.execute(tx)
  return true
}

/** Removes a passkey of an administrator; returns its name, or undefined if they do not have it. */
export async function removePasskey(
  tx: Tx,
  administratorId: string,
  passkeyId: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
delete from passkeys where administrator_id = ${administratorId} and passkey_id = ${passkeyId}
returning name`.execute(tx)
  return rows[0]?.name
}

/** Notes that a passkey signed, and how often it has: most authenticators count nothing, and say 0. */
export async function noteUse(tx: Tx, { passkeyId }: KnownPasskey, counter: number): Promise<void> {
  await sql`
update passkeys set counter = ${counter}, last_used_at = now() where passkey_id = ${passkeyId}`.execute(tx)
}
