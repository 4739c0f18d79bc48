import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import type { Sealer } from './codes.ts'

const unreadable = () =>
  new PageProblem(
    503,
    'Codes of apps cannot be checked',
    'The key that encrypts them is missing. Go back and enter a recovery code, or contact the team that runs Tally.',
  )

/** The secret of an administrator's app, or undefined. Throws a 503 if no key opens it: codes are never skipped. */
export async function secretOf(
  { db, sealer }: Pick<AdminDeps, 'db' | 'sealer'>,
  administratorId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ sealed: string | null }>`
select totp_secret as sealed from administrators where administrator_id = ${administratorId}`.execute(db)
  const sealed = rows[0]?.sealed
  if (sealed == null) return undefined
  const secret = sealer?.open(sealed, administratorId)
  if (secret === undefined) throw unreadable()
  return secret
}

/**
 * Encrypts with the first key every secret that belongs to an earlier key; returns how many no key opens. Afterwards
 * the earlier keys are not needed.
 */
export async function sealSecrets(db: Postgres, sealer: Sealer | undefined): Promise<number> {
  const { rows } = await sql<{ owner: string; stored: string }>`
select administrator_id as owner, totp_secret as stored from administrators
where totp_secret is not null`.execute(db)
  let unopened = 0
  for (const { owner, stored } of rows) {
    if (sealer?.isCurrent(stored, owner)) continue
    const secret = sealer?.open(stored, owner)
    if (secret === undefined || sealer === undefined) unopened += 1
    else
      await sql`
update administrators set totp_secret = ${sealer.seal(secret, owner)}
where administrator_id = ${owner} and totp_secret = ${stored}`.execute(db)
  }
  return unopened
}
