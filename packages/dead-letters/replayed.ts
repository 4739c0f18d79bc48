import type { Instant, Postgres } from '@tally/platform'
import { type Generated, sql } from 'kysely'
import type { DeadLetter } from './deadLetter.ts'

type Identity = Pick<DeadLetter, 'id' | 'fingerprint'>

/** The key under which a replay is stored; it also tells dead letters with one id apart. */
export const identityOf = ({ id, fingerprint }: Identity): string => `${id} ${fingerprint.toString('hex')}`

/**
 * Which of these dead letters were sent again, by identity; an interrupted replay does not count. A replay from before
 * fingerprints were stored counts for every dead letter with its id.
 */
export async function replayedOf(db: Postgres, entries: Identity[]): Promise<Set<string>> {
  const { rows } = await sql<{ letter_id: string; fingerprint: Buffer }>`
select letter_id, fingerprint
from replayed_letters
where letter_id = any(${entries.map(({ id }) => id)}::text[]) and sent_at is not null`.execute(db)
  const replayed = new Set(
    rows.map(({ letter_id, fingerprint }) => identityOf({ id: letter_id, fingerprint })),
  )
  const isReplayed = (entry: Identity): boolean =>
    replayed.has(identityOf(entry)) || replayed.has(identityOf({ id: entry.id, fingerprint: unknown }))
  return new Set(entries.filter(isReplayed).map(identityOf))
}
const unknown = Buffer.alloc(0)

/**
 * Calls `send` with the dead letters that were not replayed yet, and stores them as sent; returns their identities. A
 * concurrent replay waits for this one and then skips them: locks are taken in one order. After a crash at each step:
 *
 * 1. insert their rows: nothing was sent; they are listed and replayed as before.
 * 2. lock, send: some or all were sent and will be sent again. A record that was good changes nothing the
 *    second time (docs/records.md, Which record wins).
 * 3. commit: they are no longer listed.
 */
export async function sendUnsent(
  db: Postgres,
  entries: Identity[],
  send: (unsent: Set<string>) => Promise<void>,
): Promise<Set<string>> {
  const replayed = await replayedOf(db, entries)
  const wanted = entries.filter(entry => !replayed.has(identityOf(entry)))
  if (wanted.length === 0) return new Set()
  const these = sql`(
  select letter_id, decode(hex, 'hex') as fingerprint
  from unnest(
    ${wanted.map(({ id }) => id)}::text[],
    ${wanted.map(({ fingerprint }) => fingerprint.toString('hex'))}::text[]
  ) as one (letter_id, hex)
) as entry`
  await sql`
insert into replayed_letters (letter_id, fingerprint)
select letter_id, fingerprint from ${these}
order by letter_id, fingerprint
on conflict do nothing`.execute(db)
  return db.transaction().execute(async tx => {
    const { rows } = await sql<{ letter_id: string; fingerprint: Buffer }>`
select stored.letter_id, stored.fingerprint
from replayed_letters as stored join ${these} using (letter_id, fingerprint)
where stored.sent_at is null
order by stored.letter_id, stored.fingerprint
for update of stored`.execute(tx)
    const unsent = new Set(
      rows.map(({ letter_id, fingerprint }) => identityOf({ id: letter_id, fingerprint })),
    )
    if (unsent.size === 0) return unsent
    await send(unsent)
    await sql`
update replayed_letters as stored set sent_at = now() from ${these}
where stored.letter_id = entry.letter_id and stored.fingerprint = entry.fingerprint and stored.sent_at is null`.execute(
      tx,
    )
    return unsent
  })
}

/**
 * A dead letter that `tally dead-letters replay` has sent again; `sent_at` is null while that is under way. The
 * fingerprint tells dead letters with one id apart; it is empty for those that were replayed before it was stored.
 */
export type ReplayedDeadLetterTable = {
  letter_id: string
  fingerprint: Generated<Buffer>
  started_at: Instant
  sent_at: Instant<null>
}

declare module '@tally/platform/database' {
  interface Database {
    replayed_letters: ReplayedDeadLetterTable
  }
}
