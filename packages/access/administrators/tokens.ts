import { hash, randomBytes } from 'node:crypto'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'

/**
 * What a token allows, once: to set a new password, to come back from the OpenID provider, to enter the code of the
 * second factor after the password, or to sign with a passkey (its challenge).
 */
type Purpose = 'reset' | 'oidc' | 'code' | 'passkey'

const validFor: Record<Purpose, string> = {
  reset: '30 minutes',
  oidc: '10 minutes',
  code: '5 minutes',
  passkey: '5 minutes',
}

/** Lets `redeemToken` accept an unguessable text once; only its hash is stored. */
export async function issueToken(
  db: Postgres | Tx,
  {
    purpose,
    token,
    administratorId = null,
    removesSecondFactor = false,
  }: { purpose: Purpose; token: string; administratorId?: string | null; removesSecondFactor?: boolean },
): Promise<void> {
  await sql`
insert into one_time_tokens (token_sha256, purpose, administrator_id, ends_at, removes_second_factor)
values (
  ${sha256(token)}, ${purpose}, ${administratorId}, now() + ${validFor[purpose]}::interval, ${removesSecondFactor}
)`.execute(db)
}

/** Whose token it is, and whether a password set with it also removes the second factor. */
export type TokenOwner = { administratorId: string; email: string; removesSecondFactor: boolean }

/** The owner of a token; undefined if it was used, has ended or is for another purpose. */
export async function ownerOfToken(
  db: Postgres | Tx,
  purpose: Purpose,
  token: string,
): Promise<TokenOwner | undefined> {
  const { rows } = await sql<TokenOwner>`
select administrator_id as "administratorId", email, removes_second_factor as "removesSecondFactor"
from one_time_tokens join administrators using (administrator_id)
where token_sha256 = ${sha256(token)} and purpose = ${purpose} and ends_at > now()`.execute(db)
  return rows[0]
}

/** Uses a token up; returns whether it was still valid. Of two concurrent uses, one gets true. */
export async function redeemToken(db: Postgres | Tx, purpose: Purpose, token: string): Promise<boolean> {
  const { rows } = await sql`
delete from one_time_tokens
where token_sha256 = ${sha256(token)} and purpose = ${purpose} and ends_at > now()
returning 1`.execute(db)
  return rows.length === 1
}

/** Deletes the tokens that have ended. */
export async function forgetTokens(db: Postgres): Promise<void> {
  await sql`delete from one_time_tokens where ends_at < now()`.execute(db)
}

/** 256 random bits, for a cookie or a link. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** What is stored of a token: 256 random bits need no salt and no slow hash. */
export const sha256 = (token: string): Buffer => hash('sha256', token, 'buffer')
