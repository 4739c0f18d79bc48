import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'

/** Sign-in attempts per window of 15 minutes, which starts with the first one. */
export const limits = { account: 10, address: 50 }
const windowLength = '15 minutes'

export type Attempt = { email: string; address: string }

/**
 * Counts a sign-in attempt, before its password is checked, for its account (even if it does not exist) and its
 * address. Returns the seconds to wait if a limit is exceeded. Exact over all processes and concurrent attempts;
 * refused attempts do not extend the window.
 */
export async function takeAttempt(db: Postgres, attempt: Attempt): Promise<number | undefined> {
  const [account, address] = [accountOf(attempt), addressOf(attempt)]
  const { rows } = await sql<{ subject: Buffer; attempts: number; seconds: number }>`
insert into sign_in_attempts as stored (subject_sha256, attempts, ends_at)
select subject, 1, now() + ${windowLength}::interval
from unnest(${[account, address]}::bytea[]) as subject
order by subject
on conflict (subject_sha256) do update set
  attempts = case when stored.ends_at <= now() then 1 else stored.attempts + 1 end,
  ends_at = case when stored.ends_at <= now() then excluded.ends_at else stored.ends_at end
returning subject_sha256 as subject, attempts, ceil(extract(epoch from ends_at - now()))::int as seconds`.execute(
    db,
  )
  const over = rows.filter(
    ({ subject, attempts }) => attempts > (subject.equals(account) ? limits.account : limits.address),
  )
  return over.length === 0 ? undefined : Math.max(1, ...over.map(({ seconds }) => seconds))
}

/** Resets the account's window after a sign-in; not the address's, which may try other accounts. */
export async function forgetAttempts(db: Postgres, attempt: Attempt): Promise<void> {
  await db.deleteFrom('sign_in_attempts').where('subject_sha256', '=', accountOf(attempt)).execute()
}

const accountOf = ({ email }: Attempt) => hash('sha256', `account ${email}`, 'buffer')
const addressOf = ({ address }: Attempt) => hash('sha256', `address ${networkOf(address)}`, 'buffer')

/** The /64 of an IPv6 address: its owner has all addresses in it. */
function networkOf(address: string): string {
  const [bare = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(bare)) return address
  const [head = '', tail] = bare.toLowerCase().split('::')
  const before = head.split(':').filter(group => group !== '')
  const after = (tail ?? '').split(':').filter(group => group !== '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = tail === undefined ? before : [...before, ...zeros, ...after]
  return groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')
}
