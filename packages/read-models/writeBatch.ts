import type { EventId } from '@tally/contract'
import type { CounterChanges } from '@tally/core'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { addDaily } from './daily/writer.ts'
import { addHourly } from './hourly/writer.ts'
import { addItems } from './items/writer.ts'
import { addOrderBuckets } from './orderBuckets/writer.ts'
import type { Write } from './write.ts'

/** A batch has at most six writes: two of its own, four of counters. */
const names = [sql`write_1`, sql`write_2`, sql`write_3`, sql`write_4`, sql`write_5`, sql`write_6`]

/**
 * Writes everything that a batch changed in one statement, so in one round trip: its own `writes`, the counters of the
 * events it changed, and a new revision on those events (docs/architecture.md, invariant 3); `scattered`: those of them
 * that from now on have records in several shards. Returns the revision. Only a batch with very many items needs more
 * statements. The events must be locked (`lockEvents`): revisions grow in the order of commits only if they are taken
 * with all locks held.
 */
export async function writeBatch(
  tx: Tx,
  {
    changes,
    scattered,
    writes,
  }: { changes: Map<EventId, CounterChanges>; scattered: EventId[]; writes: (Write | undefined)[] },
): Promise<number> {
  // Usually one write. If there are more, all but the last are sent on their own, so that they are not kept in memory.
  let items: Write | undefined
  for (const write of addItems(changes)) {
    await items?.execute(tx)
    items = write
  }
  const all = [...writes, addDaily(changes), addHourly(changes), items, addOrderBuckets(changes)]
  const named = all
    .filter(write => write !== undefined)
    .map((write, index) => sql`${names[index]} as (${write}),`)
  const { rows } = await sql<{ revision: number }>`
with revision as materialized (select nextval('revisions') as value),
${sql.join(named, sql` `)}
stamped as (
  update event_heads
  set revision = (select value from revision), changed_at = now(),
    is_scattered = is_scattered or event_id = any(${scattered}::uuid[])
  where event_id = any(${[...changes.keys()]}::uuid[])
)
select value as revision from revision`.execute(tx)
  return (rows[0] as { revision: number }).revision
}
