import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'

/**
 * Sign-in attempts per window, which starts with the first one: of a known browser for an account; of a network over
 * all accounts, and of the site that it belongs to; of a network for one account; and for one account from everywhere.
 * The others are for passwords that a session asks for again, for those that an account's reset links judge, and for
 * wrong codes of an app: 30 a day guess one with a chance of 1 in 11,000, because three are right at a time.
 */
export const limits = {
  device: { attempts: 10, window: '15 minutes' },
  network: { attempts: 50, window: '15 minutes' },
  site: { attempts: 500, window: '15 minutes' },
  pair: { attempts: 10, window: '15 minutes' },
  account: { attempts: 100, window: '1 hour' },
  session: { attempts: 10, window: '15 minutes' },
  reset: { attempts: 10, window: '15 minutes' },
  code: { attempts: 30, window: '24 hours' },
} as const
type Limit = keyof typeof limits

/**
 * `device` is a browser in which this account has signed in before (devices.ts); others cannot use up its attempts.
 * Without `email` the account is not known yet: the OpenID provider names it.
 */
type Attempt = { email?: string; address: string; device?: string | undefined }

/**
 * Counts a sign-in attempt, before its password is checked, also for an account that does not exist. Returns the
 * limit that is exceeded, if one is. Exact over all processes and concurrent attempts; refused attempts do not
 * extend a window, and do not count for the limits after the one that they exceed: they use up no account's attempts.
 */
export async function takeAttempt(db: Postgres, attempt: Attempt): Promise<Exceeded | undefined> {
  for (const [limit, subject] of countersOf(attempt)) {
    const { exceeded } = await countAttempt(db, limit, subject)
    if (exceeded !== undefined) return exceeded
  }
  return undefined
}

/** Takes back an attempt that `takeAttempt` counted, and of which no password was checked. */
export const giveBackAttempt = (db: Postgres, attempt: Attempt): Promise<unknown> =>
  Promise.all(countersOf(attempt).map(([limit, subject]) => uncountAttempt(db, limit, subject)))

/** Resets the attempts of this browser or network for the account; not those of others, which may be an attack. */
export async function forgetAttempts(db: Postgres, attempt: Attempt): Promise<void> {
  const own = countersOf(attempt).filter(([limit]) => limit === 'device' || limit === 'pair')
  const subjects = own.map(([limit, subject]) => hashOf(limit, subject))
  await db.deleteFrom('sign_in_attempts').where('subject_sha256', 'in', subjects).execute()
}

/** What an attempt is counted for, in this order. */
function countersOf({ email, address, device }: Attempt): [Limit, string][] {
  if (device !== undefined) return [['device', device]]
  const networks = networksOf(address)
  const counters = networks.map((of, index): [Limit, string] => [index === 0 ? 'network' : 'site', of])
  if (email !== undefined) counters.push(['pair', `${networks[0]} ${email}`], ['account', email])
  return counters
}

/** An exceeded limit: how long to wait, and whether this is the window's first attempt over it. */
export type Exceeded = { limit: Limit; waitSeconds: number; isFirst: boolean }

/** Counts an attempt for one limit; returns how many there were in this window. */
export async function countAttempt(
  db: Postgres,
  limit: Limit,
  subject: string,
): Promise<{ attempts: number; exceeded: Exceeded | undefined }> {
  const { attempts: allowed, window } = limits[limit]
  const { rows } = await sql<{ attempts: number; seconds: number }>`
insert into sign_in_attempts as stored (subject_sha256, attempts, ends_at)
values (${hashOf(limit, subject)}, 1, now() + ${window}::interval)
on conflict (subject_sha256) do update set
  attempts = case when stored.ends_at <= now() then 1 else stored.attempts + 1 end,
  ends_at = case when stored.ends_at <= now() then excluded.ends_at else stored.ends_at end
returning attempts, ceil(extract(epoch from ends_at - now()))::int as seconds`.execute(db)
  const { attempts = 0, seconds = 0 } = rows[0] ?? {}
  const exceeded = { limit, waitSeconds: Math.max(1, seconds), isFirst: attempts === allowed + 1 }
  return { attempts, exceeded: attempts <= allowed ? undefined : exceeded }
}

/** Takes back an attempt that `countAttempt` counted. */
export async function uncountAttempt(db: Postgres, limit: Limit, subject: string): Promise<void> {
  await sql`
update sign_in_attempts set attempts = attempts - 1
where subject_sha256 = ${hashOf(limit, subject)} and attempts > 0`.execute(db)
}

const hashOf = (limit: Limit, subject: string) => hash('sha256', `${limit} ${subject}`, 'buffer')

/**
 * The networks that an address counts for, the smaller one first: an IPv4 address itself, and of an IPv6 address the
 * /64, which one machine has, and the /48, which one site has. The address is in its one form (http/origin.ts).
 */
export function networksOf(address: string): string[] {
  if (!isIPv6(address)) return [address]
  const [before = [], after = []] = address
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after]
  return [4, 3].map(count => groups.slice(0, count).join(':'))
}
