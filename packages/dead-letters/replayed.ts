import type { Postgres } from '@tally/read-models'
import { sql } from 'kysely'

/** Which of these letters were sent again; one whose replay was ended in between is not among them. */
export async function replayedOf(db: Postgres, ids: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ letter_id: string }>`
select letter_id
from replayed_letters
where letter_id = any(${ids}::text[]) and sent_at is not null`.execute(db)
  return new Set(rows.map(row => row.letter_id))
}

/**
 * Lets `send` send those of these letters that were not sent again yet, and remembers them as sent; returns their ids.
 * Another replay at the same time waits for this one and then leaves them out: the locks are taken in one order. After a
 * crash at each step:
 *
 * 1. the letters stand there with their start: nothing was sent, they are listed and replayed as before.
 * 2. lock, send: some or all were sent and will be sent once more. What was a good record by then changes nothing the
 *    second time (messages.md, section 2).
 * 3. commit: they are listed no more.
 */
export async function sendUnsent(
  db: Postgres,
  ids: string[],
  send: (unsent: Set<string>) => Promise<void>,
): Promise<Set<string>> {
  await sql`
insert into replayed_letters (letter_id)
select letter_id from unnest(${ids}::text[]) as letter_id
order by letter_id
on conflict do nothing`.execute(db)
  return db.transaction().execute(async tx => {
    const { rows } = await sql<{ letter_id: string }>`
select letter_id
from replayed_letters
where letter_id = any(${ids}::text[]) and sent_at is null
order by letter_id
for update`.execute(tx)
    const unsent = new Set(rows.map(row => row.letter_id))
    if (unsent.size === 0) return unsent
    await send(unsent)
    await sql`
update replayed_letters set sent_at = now() where letter_id = any(${[...unsent]}::text[])`.execute(tx)
    return unsent
  })
}
