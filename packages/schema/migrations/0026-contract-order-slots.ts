import { type Kysely, sql } from 'kysely'

/**
 * Drops the view through which processes of the version before use the counter of order buckets.
 * Cost: none that grows with the data.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop view order_slots`.execute(db)
}
