import { allowEnrolment, removeSecondFactor, sha256 } from '@tally/access'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'
import type { AdminDeps } from '../deps.ts'
import { newRecoveryCodes, newSecret, recoveryCodeOf, type Sealer, stepOf } from './codes.ts'
import { secretOf } from './secrets.ts'

type Factors = { hasApp: boolean; hasSecondFactor: boolean }

/** Whether an administrator has an app, and whether there is any second factor. */
export async function factorsOf(db: Postgres | Tx, administratorId: string): Promise<Factors> {
  const { rows } = await sql<Factors>`
select
  totp_secret is not null as "hasApp",
  totp_secret is not null
    or exists (select from passkeys where administrator_id = ${administratorId}) as "hasSecondFactor"
from administrators where administrator_id = ${administratorId}`.execute(db)
  return rows[0] ?? { hasApp: false, hasSecondFactor: false }
}

/** Removes an administrator's app; passkeys remain a second factor. Returns whether there are none. */
export async function removeApp(tx: Tx, administratorId: string): Promise<boolean> {
  await sql`
update administrators set totp_secret = null, totp_candidate = null
where administrator_id = ${administratorId}`.execute(tx)
  return endFactor(tx, administratorId)
}

/**
 * After an app or a passkey was removed: without another one the recovery codes end, too, and a second factor may be
 * set up for a while. Returns whether that is so.
 */
export async function endFactor(tx: Tx, administratorId: string): Promise<boolean> {
  if ((await factorsOf(tx, administratorId)).hasSecondFactor) return false
  await removeSecondFactor(tx, administratorId)
  await allowEnrolment(tx, administratorId)
  return true
}

/** The secret that an administrator may put into an app; it counts only after a first code (`enrol`). */
export async function candidateOf(db: Postgres, sealer: Sealer, administratorId: string): Promise<string> {
  const secret = newSecret()
  const sealed = sealer.seal(secret, administratorId)
  const { rows } = await sql<{ candidate: string }>`
update administrators set totp_candidate = coalesce(totp_candidate, ${sealed})
where administrator_id = ${administratorId}
returning totp_candidate as candidate`.execute(db)
  const candidate = sealer.open(rows[0]?.candidate ?? '', administratorId)
  if (candidate !== undefined) return candidate
  // Sealed with a key that is gone.
  await sql`
update administrators set totp_candidate = ${sealed} where administrator_id = ${administratorId}`.execute(db)
  return secret
}

/** Makes the candidate the second factor if the code fits; returns new recovery codes, or undefined. */
export async function enrol(
  tx: Tx,
  sealer: Sealer,
  administratorId: string,
  code: string,
): Promise<string[] | undefined> {
  const { rows } = await sql<{ candidate: string | null }>`
select totp_candidate as candidate from administrators
where administrator_id = ${administratorId} for update`.execute(tx)
  const candidate = sealer.open(rows[0]?.candidate ?? '', administratorId)
  const step = candidate === undefined ? undefined : stepOf(candidate, code)
  if (step === undefined) return undefined
  await sql`
update administrators set totp_secret = totp_candidate, totp_candidate = null, totp_used_step = ${step}
where administrator_id = ${administratorId}`.execute(tx)
  return newCodesOf(tx, administratorId)
}

/** Makes new recovery codes for an administrator, in place of those before. */
export async function newCodesOf(tx: Tx, administratorId: string): Promise<string[]> {
  const codes = newRecoveryCodes()
  const hashes = codes.map(hashOf)
  await sql`delete from recovery_codes where administrator_id = ${administratorId}`.execute(tx)
  await sql`
insert into recovery_codes (administrator_id, code_sha256)
select ${administratorId}::uuid, unnest(${hashes}::bytea[])`.execute(tx)
  return codes
}

/**
 * Uses a code of the app or a recovery code; returns which, or undefined if it is wrong. Each is accepted once: of the
 * app's codes only those of a later time step than the last one (RFC 6238, 5.2).
 */
export async function useCode(
  deps: Pick<AdminDeps, 'db' | 'sealer'>,
  administratorId: string,
  typed: string,
): Promise<'app' | 'recovery' | undefined> {
  const { db } = deps
  const hashed = hashOf(typed)
  if (hashed !== undefined) {
    const { rows } = await sql`
delete from recovery_codes where administrator_id = ${administratorId} and code_sha256 = ${hashed}
returning 1`.execute(db)
    return rows.length === 1 ? 'recovery' : undefined
  }
  const secret = await secretOf(deps, administratorId)
  const step = secret === undefined ? undefined : stepOf(secret, typed.replaceAll(' ', ''))
  if (step === undefined) return undefined
  const { rows: used } = await sql`
update administrators set totp_used_step = ${step}
where administrator_id = ${administratorId} and totp_used_step < ${step}
returning 1`.execute(db)
  return used.length === 1 ? 'app' : undefined
}

/** How many recovery codes are left. */
export async function recoveryCodesLeft(db: Postgres, administratorId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
select count(*) as count from recovery_codes where administrator_id = ${administratorId}`.execute(db)
  return rows[0]?.count ?? 0
}

function hashOf(typed: string): Buffer | undefined {
  const code = recoveryCodeOf(typed)
  return code === undefined ? undefined : sha256(code)
}
