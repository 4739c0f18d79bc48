import type { EventId } from '@tally/contract'
import type { Tx } from '@tally/platform'
import { sql } from 'kysely'
import type { CounterChanges } from '../counting/changes.ts'
import { counterNames } from '../counting/counters.ts'
import { statement } from './statement.ts'
import type { Write } from './write.ts'
import { counterWrites } from './writes.ts'

/** A batch has at most two writes of its own, and one per counter. */
const names = Array.from({ length: 2 + counterNames.length }, (_, index) => statement(`write_${index + 1}`)())

/**
 * Writes everything that a batch changed in one statement, so in one round trip: its own `writes`, the counters of the
 * events it changed, and a new revision on those events (docs/architecture.md, invariant 3); `scattered`: those of them
 * that from now on have records in several shards. Returns the revision. Only a batch with very many items needs more
 * statements. The events must be locked (`lockEvents`): revisions grow in the order of commits only if they are taken
 * with all locks held. Tells the triggers of migrations/0023-payment-counters.ts that it counts payments itself.
 */
export async function writeBatch(
  tx: Tx,
  {
    changes,
    scattered,
    writes,
  }: { changes: Map<EventId, CounterChanges>; scattered: EventId[]; writes: (Write | undefined)[] },
): Promise<number> {
  const all = [...writes]
  for (const write of counterWrites) {
    // Usually one. If there are more, all but the last are sent on their own, so that they are not kept in memory.
    let last: Write | undefined
    for (const next of write(changes)) {
      await last?.execute(tx)
      last = next
    }
    all.push(last)
  }
  const named = all
    .filter(write => write !== undefined)
    .map((write, index) => sql`${names[index]} as (${write}),`)
  const { rows } = await sql<{ revision: number }>`
with revision as materialized (
  select nextval('revisions') as value, set_config('tally.counts_payments', 'on', true)
),
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
