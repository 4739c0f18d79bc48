import type { Tx } from '@tally/platform'
import { sql } from 'kysely'
import { eventTables, shadowSchema } from './shadow.ts'

/**
 * Makes the live rows of some events or organizations (`ids`) those of the shadow. Only rows that differ are written:
 * nearly all are right already, and the shard's projector waits meanwhile. The shadow's columns are those of the live
 * table, in their order.
 */
export async function copyRows(tx: Tx, table: string, ids: string[]): Promise<void> {
  const key = await primaryKeyOf(tx, table)
  const [column] = key
  const ofThese = sql`${sql.id(column)} = any(${ids}::uuid[])`
  const [to, from] = [sql.id(table), sql.id(shadowSchema, table)]
  const isSameKey = sql.join(
    key.map(column => sql`kept.${sql.id(column)} = made.${sql.id(column)}`),
    sql` and `,
  )
  await sql`
delete from ${to} as kept
where kept.${ofThese}
  and not exists (select from ${from} as made where ${isSameKey} and made::text = kept::text)`.execute(tx)
  await sql`
insert into ${to}
select made.* from ${from} as made
where made.${ofThese} and not exists (select from ${to} as kept where ${isSameKey})`.execute(tx)
}

/** Takes away all rows of some events. */
export async function removeRows(tx: Tx, eventIds: string[]): Promise<void> {
  if (eventIds.length === 0) return
  for (const table of [...eventTables, 'event_heads']) {
    await sql`delete from ${sql.id(table)} where event_id = any(${eventIds}::uuid[])`.execute(tx)
  }
}

/** The columns of a table's primary key; the first is the id of the event or organization. */
async function primaryKeyOf(tx: Tx, table: string): Promise<[string, ...string[]]> {
  const { rows } = await sql<{ name: string }>`
select attname::text as name
from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
where indrelid = ${table}::regclass and indisprimary
order by array_position(indkey::int2[], attnum)`.execute(tx)
  return rows.map(({ name }) => name) as [string, ...string[]]
}
