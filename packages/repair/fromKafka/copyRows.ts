import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { shadowSchema } from './shadow.ts'

/** The tables that are switched event by event, with what tells two rows of one event apart. */
export const eventTables: [table: string, key: string[]][] = [
  ['events', []],
  ['orders', ['order_id']],
  ['refunds', ['refund_id']],
  ['daily_counters', ['day_id', 'area_id']],
  ['hourly_counters', ['day_id', 'area_id', 'bucket']],
  ['item_counters', ['day_id', 'area_id', 'block']],
  ['order_slots', ['slot', 'day_id', 'area_id']],
]

/**
 * Makes the live rows of some events those of the shadow. Only rows that differ are written: nearly all are right
 * already, and the shard's projector waits meanwhile.
 */
export async function copyRows(
  tx: Tx,
  { live, table, key, eventIds }: { live: string; table: string; key: string[]; eventIds: string[] },
): Promise<void> {
  const keys = ['event_id', ...key]
  const [to, from] = [sql.id(live, table), sql.id(shadowSchema, table)]
  const same = sql.join(
    keys.map(column => sql`kept.${sql.id(column)} = made.${sql.id(column)}`),
    sql` and `,
  )
  await sql`
delete from ${to} as kept
where kept.event_id = any(${eventIds}::uuid[]) and not exists (select from ${from} as made where ${same})`.execute(
    tx,
  )

  const columns = await columnsOf(tx, live, table)
  const others = columns.filter(column => !keys.includes(column))
  const names = (list: string[]) => sql.join(list.map(column => sql.id(column)))
  const set = sql.join(others.map(column => sql`${sql.id(column)} = excluded.${sql.id(column)}`))
  await sql`
insert into ${to} (${names(columns)})
select ${sql.join(columns.map(column => sql`made.${sql.id(column)}`))}
from ${from} as made
left join ${to} as kept on ${same}
where made.event_id = any(${eventIds}::uuid[]) and kept::text is distinct from made::text
on conflict (${names(keys)}) do update set ${set}`.execute(tx)
}

/** Takes away all rows of some events. */
export async function removeRows(tx: Tx, live: string, eventIds: string[]): Promise<void> {
  if (eventIds.length === 0) return
  for (const table of [...eventTables.map(([table]) => table), 'event_heads']) {
    await sql`delete from ${sql.id(live, table)} where event_id = any(${eventIds}::uuid[])`.execute(tx)
  }
}

async function columnsOf(tx: Tx, schema: string, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
select attname::text as name
from pg_attribute
where attrelid = ${`"${schema}"."${table}"`}::regclass and attnum > 0 and not attisdropped
order by attnum`.execute(tx)
  return rows.map(({ name }) => name)
}
